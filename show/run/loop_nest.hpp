// The loop nest in words: thread blocks of each launch, and the lines that each of them visits more than once.
#pragma once

#include <string>
#include <vector>

#include "show/run/run.hpp"

namespace tilescope::show {

/// One line for each level of the loop nest: how often the level runs in the whole run, and what is shown of it.
/// {"flash_v2: 128 thread blocks, shown: 16 of head 1", "each visits lines 7–10 (read K_j, V_j from HBM …) × 16"}, say.
std::vector<std::string> loop_nest(const Run& run);
/// These lines for one launch.
std::vector<std::string> loop_nest(const Run& run, Index launch);

}  // namespace tilescope::show
