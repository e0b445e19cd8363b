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
/// The own algorithm's name that a text begins with; nullopt where it begins with none. Only such names have the ending
/// of a file. Settings (:br=64) or a GPU (@A100) may follow.
std::optional<OwnName> own_name_in(std::string_view text);

/// The algorithms of the file. Loads it if it is not loaded yet: compiles it where needed, runs its code and adds its
/// algorithms. UsageError where there is no such file, or it cannot be loaded; RunError where it does not compile.
/// Throws Interrupted.
std::vector<const Algorithm*> load(const std::string& file);
/// Loads the file and finds the algorithm in it. UsageError where the file lacks it, or where the name leaves open
/// which of several algorithms it means.
const Algorithm& own_algorithm(const OwnName& name);

/// What to type for an algorithm: its name; for one of a file "FILE", or "FILE:NAME" where the file has several.
std::string typed_name(const Algorithm& algorithm);
/// The same for the algorithm of that name; a name that no algorithm has stays as it is.
std::string typed_name(const std::string& name);
/// The paper of the algorithm; its file where it names no paper.
const char* source_of(const Algorithm& algorithm);

/// The texts of the loaded C++ and Python files as they were when loaded, under the names that events have for them.
/// A shared object has a text where its source is still there.
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
