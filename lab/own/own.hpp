// Algorithms in the user's own files: C++ that is compiled behind the scenes, shared objects, and Python.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/contract/algorithm.hpp"
#include "core/text/embedded.hpp"

namespace tilescope::lab {

/// An algorithm named by its file: "./mine.cpp", or "./mine.cpp:lazy" where the file has several.
struct OwnName {
    std::string file;
    std::string algorithm;  ///< empty: the only one
    std::size_t size = 0;   ///< characters that the name takes at the beginning of the text
};
/// The name at the beginning of a text, up to the end or to a : or @. Only own algorithms' names have a file ending.
std::optional<OwnName> own_name_in(std::string_view text);

/// Loads a file that is not loaded yet, which runs its code, and adds its algorithms. Compiles it first where needed.
/// UsageError where there is no such file, or it cannot be loaded; RunError where it does not compile. Throws
/// Interrupted.
std::vector<const Algorithm*> load(const std::string& file);
/// Loads the file and finds the algorithm in it. UsageError where it is not there, or there are several to choose from.
const Algorithm& own_algorithm(const OwnName& name);

/// What to type for an algorithm: its name; for one of a file "FILE", or "FILE:NAME" where the file has several.
std::string typed_name(const Algorithm& algorithm);
/// The same for the algorithm of that name; a name that no algorithm has stays as it is.
std::string typed_name(const std::string& name);
/// Its paper; where it names none, its file.
const char* source_of(const Algorithm& algorithm);

/// The texts of the loaded files, as they were then, under the names that events have for them: of C++ and Python
/// files, and of a shared object where its source is still there.
const std::deque<EmbeddedFile>& own_programs();

/// While an object lives, no new file is loaded: for names that somebody else may have written, as in a saved state.
class OnlyLoaded {
  public:
    OnlyLoaded();
    ~OnlyLoaded();
    OnlyLoaded(const OnlyLoaded&) = delete;
    OnlyLoaded& operator=(const OnlyLoaded&) = delete;
};

}  // namespace tilescope::lab
