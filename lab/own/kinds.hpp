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

/// Adds the algorithms of a shared object, as those of `file`, whose characters must stay until the program ends.
/// Throws NotOpened, and UsageError where the object was not built for this TileScope.
std::vector<const Algorithm*> load_object(const std::string& object, const char* file);
/// Adds the algorithms of a Python file, by the Python part of TileScope. UsageError where that part is missing.
std::vector<const Algorithm*> load_python(const std::string& path, const char* file);

/// Remembers the text of the file `path` for own_programs(), if it can be read and is no newer than `object`. The
/// characters of `path` must stay until the program ends.
void keep_program(const char* path, const std::string& object);

/// The words of a C++ compiler's command: $CXX, the one that TileScope was built with, or one on PATH. Empty where
/// there is none.
std::vector<std::string> compiler();

/// A shared object made of a C++ file.
struct Compiled {
    std::string object;
    bool kept = false;  ///< whether the object is from an earlier compilation
};
/// Compiles the file. Unless `again` is set, returns the object of an earlier compilation of the same text instead, if
/// there is one. RunError with the compiler's words where the file does not compile. Throws Interrupted.
Compiled compiled(const std::string& path, bool again = false);

}  // namespace tilescope::lab
