// What an algorithm does not do, refused with the flag that asks for it and the algorithms that do.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "lab/flags/options.hpp"

namespace tilescope::lab {

/// UsageError where the algorithm does not do what the problem asks for; it names one that does.
void check_supported(const Algorithm& algorithm, const Problem& problem, const Options& options);

}  // namespace tilescope::lab
