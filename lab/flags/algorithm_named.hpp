// The algorithm that a name means.
#pragma once

#include <string>

#include "algorithms/contract/algorithm.hpp"

namespace tilescope::lab {

/// By its name, or by its former one; UsageError with the nearest name when there is no such algorithm.
const Algorithm& algorithm_named(const std::string& name);
/// "safe_softmax is now called three_pass"; empty where that is no former name.
std::string renaming(const std::string& name);

}  // namespace tilescope::lab
