// Where this program is, and what belongs to it.
#pragma once

#include <filesystem>
#include <vector>

namespace tilescope::lab {

/// The file that this code runs from: the program, or the shared object that it was linked into.
std::filesystem::path own_binary();
/// The folders in which a compiler finds <tilescope/algorithm.hpp> and what that includes: those that were installed
/// with the program, or else those of the sources. UsageError where there are none.
std::vector<std::filesystem::path> include_folders();
/// Where tilescope-python.so, which has an interpreter for the programs, may be: beside them, or in lib/tilescope/.
std::vector<std::filesystem::path> python_parts();

}  // namespace tilescope::lab
