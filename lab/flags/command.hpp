// Requests as lines that can be typed again.
#pragma once

#include <string>
#include <vector>

#include "core/machine/place.hpp"
#include "lab/flags/options.hpp"

namespace tilescope::lab {

/// The words as one line for a shell.
std::string shell_line(const std::vector<std::string>& words);

/// "tilescope step flash_v2 --seq 100 --launch 0 --block 5 --line 9": back to that place of a run.
std::string step_command(const std::string& algorithm, const Options& options, const Place& place);

}  // namespace tilescope::lab
