// Words that people type for something that has another name here or is not modelled, and the closest command there is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope::lab {

/// What a word was meant to name.
enum class Asked : std::uint8_t { algorithm, dtype, gpu, flag };

/// A message about a word: what there is instead, the closest command, and, for what is not modelled, the page that
/// says so; empty for an unknown word. The command contains `value`, typed behind the word, where it has a place for
/// one. `own`: the user's own command in the words used here, proposed where only the word differs.
std::string instead_of(Asked what, std::string_view word, std::string_view value = "", const std::string& own = "");

/// TileScope's name of a storage type, by any of its names; empty where the type is unknown.
std::string dtype_called(std::string_view typed);

/// A flag of other programs as it is written here.
struct Renamed {
    std::vector<std::string> words;  ///< {"--heads", "32"}; empty where no flag here means the same
    bool takes_value = false;        ///< whether `words` has the value that was typed behind it
};
Renamed renamed(std::string_view flag, std::string_view value);

}  // namespace tilescope::lab
