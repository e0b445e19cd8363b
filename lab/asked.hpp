// Words that people type for what has another name here or is not modelled, and the closest question that can be asked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilescope::lab {

/// What a word was meant to name.
enum class Asked : std::uint8_t { algorithm, dtype, gpu, flag };

/// What there is in place of a word, a command that asks for the closest, and the page that says what is not modelled;
/// empty where nothing is known of the word. The command has the value that was typed behind the word, where it has a
/// place for such a one.
std::string instead_of(Asked what, std::string_view word, std::string_view value = "");

}  // namespace tilescope::lab
