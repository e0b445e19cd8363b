// The algorithm that a name means.
#pragma once

#include <string>

#include "algorithms/contract/algorithm.hpp"

namespace tilescope::lab {

/// The algorithm that has this name, or had it before. UsageError, with the nearest name, where there is none.
const Algorithm& algorithm_named(const std::string& name);
/// "safe_softmax is now called three_pass"; empty where `name` is no former name of an algorithm.
std::string renaming(const std::string& name);

}  // namespace tilescope::lab
