// The kinds of files that can be loaded.
#pragma once

#include <string>
#include <vector>

#include "algorithms/contract/algorithm.hpp"

namespace tilescope::lab {

/// The object could not be opened at all: "file too short".
struct NotOpened {
    std::string why;
};

/// Adds what a shared object offers, as the algorithms of `file`, which must outlive the program. Throws NotOpened, and
/// UsageError where it is none of this TileScope's.
std::vector<const Algorithm*> load_object(const std::string& object, const char* file);
/// Adds the algorithms of a Python file, by the Python part of TileScope. UsageError where that is not there.
std::vector<const Algorithm*> load_python(const std::string& path, const char* file);

/// Remembers the text of a program for own_programs(), where `path` can be read and is no newer than `object`. It must
/// outlive the program.
void keep_program(const char* path, const std::string& object);

/// The words of a C++ compiler's command: $CXX, the one that TileScope was built with, or one on PATH. Empty where
/// there is none.
std::vector<std::string> compiler();

/// A shared object made of a C++ file.
struct Compiled {
    std::string object;
    bool kept = false;  ///< from an earlier time
};
/// Compiles the file, or finds what was made of the same text before, unless `again`. RunError with the compiler's
/// words where it does not compile. Throws Interrupted.
Compiled compiled(const std::string& path, bool again = false);

}  // namespace tilescope::lab
