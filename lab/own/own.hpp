// Algorithms in files of one's own: C++ that is compiled behind the scenes, shared objects, and Python.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/contract/algorithm.hpp"
#include "core/text/embedded.hpp"

namespace tilescope::lab {

/// What names an algorithm by its file: "./mine.cpp", or "./mine.cpp:lazy" where there are several in it.
struct OwnName {
    std::string file;
    std::string algorithm;  ///< empty: the only one
    std::size_t size = 0;   ///< of the name, in the text that begins with it
};
/// The one that a text begins with, and that ends there or before a : or @. No other algorithm's name has an ending.
std::optional<OwnName> own_name_in(std::string_view text);

/// Loads the file, which runs what is in it, where that has not happened before, and adds its algorithms. Compiles it
/// before, where need be. UsageError where there is no such file, or nothing that can be loaded; RunError where it does
/// not compile. Throws Interrupted.
std::vector<const Algorithm*> load(const std::string& file);
/// Loads the file and finds the algorithm in it. UsageError where it is not there, or there are several to choose from.
const Algorithm& own_algorithm(const OwnName& name);

/// What to type for an algorithm: its name, or for one of a file that file, and its name where there are several.
std::string typed_name(const Algorithm& algorithm);
/// The same for one that is known by that name; another name stays as it is.
std::string typed_name(const std::string& name);
/// Its paper, or the file of one that names none.
const char* source_of(const Algorithm& algorithm);

/// The texts of the files that were loaded, as they were then, by the names that events have for them: those of C++ and
/// Python, and of a shared object where its source is still there.
const std::deque<EmbeddedFile>& own_programs();

/// While one lives, nothing new is loaded: names are read that may be somebody else's, as in a saved state.
class OnlyLoaded {
  public:
    OnlyLoaded();
    ~OnlyLoaded();
    OnlyLoaded(const OnlyLoaded&) = delete;
    OnlyLoaded& operator=(const OnlyLoaded&) = delete;
};

}  // namespace tilescope::lab
