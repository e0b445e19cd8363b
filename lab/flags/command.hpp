// Requests as lines that can be typed again.
#pragma once

#include <string>
#include <vector>

#include "core/machine/place.hpp"
#include "lab/flags/options.hpp"

namespace tilescope::lab {

/// The words, which hold any bytes but 0, as one printable line for a shell. (Newlines at the end of a word are lost.)
std::string shell_line(const std::vector<std::string>& words);

/// A program with its subcommand, the algorithm, and all flags that differ from their defaults.
std::vector<std::string> command_of(std::vector<std::string> program, const std::string& algorithm,
                                    const Options& options);

/// The command that shows `place` of a run: "tilescope step flash_v2 --seq 100 --launch 1 --block 5 --line 9".
std::string step_command(const std::string& algorithm, const Options& options, const Place& place);

}  // namespace tilescope::lab
