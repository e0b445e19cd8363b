// Words that people type for what has another name here or is not modelled, and the closest question that can be asked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope::lab {

/// What a word was meant to name.
enum class Asked : std::uint8_t { algorithm, dtype, gpu, flag };

/// What there is in place of a word, a command that asks for the closest, and the page that says what is not modelled;
/// empty where nothing is known of the word. The command has the value that was typed behind the word, where it has a
/// place for such a one. `own`: the user's own command as it is meant, to be proposed where the word has another name
/// here alone.
std::string instead_of(Asked what, std::string_view word, std::string_view value = "", const std::string& own = "");

/// A flag of other programs as it is written here.
struct Renamed {
    std::vector<std::string> words;  ///< {"--heads", "32"}; empty where it is no other name of a flag
    bool takes_value = false;        ///< that which was typed behind it
};
Renamed renamed(std::string_view flag, std::string_view value);

}  // namespace tilescope::lab
