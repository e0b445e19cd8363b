// Where this program's file is, and where the files that belong to it are.
#pragma once

#include <filesystem>
#include <vector>

namespace tilescope::lab {

/// The file that this code runs from: the program, or the shared object that it was linked into.
std::filesystem::path own_binary();
/// The folders in which a compiler finds <tilescope/algorithm.hpp> and what that includes: those that were installed
/// with the program, or else those of the sources. UsageError where there are none.
std::vector<std::filesystem::path> include_folders();
/// Where tilescope-python.so, which has the Python interpreter, may be: beside the binary, or in lib/tilescope/.
std::vector<std::filesystem::path> python_parts();

}  // namespace tilescope::lab
