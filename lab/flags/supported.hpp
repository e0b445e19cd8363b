// Refuses what an algorithm does not support. The message names the flag that asks for it, and other algorithms.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "lab/flags/options.hpp"

namespace tilescope::lab {

/// UsageError where the algorithm does not support what the problem asks for; it names algorithms that do, if any.
void check_supported(const Algorithm& algorithm, const Problem& problem, const Options& options);

}  // namespace tilescope::lab
