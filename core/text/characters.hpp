// Characters of UTF-8, one by one: how wide they are, and where a line may end between them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilescope::text {

/// A character of UTF-8, or a single byte that does not begin a valid one.
struct Character {
    std::string_view bytes;
    char32_t code;
    bool valid;
};

/// Removes the first character of `text`, which must not be empty, and returns it.
Character next_character(std::string_view& text);

/// The character in UTF-8; U+FFFD for a code that is no character.
std::string utf8(char32_t code);

/// Columns of a terminal: 2 for ideographs, kana, Hangul and full-width forms, 0 for marks set on the letter before
/// (Latin, Greek, Cyrillic, kana), else 1.
std::size_t columns(char32_t code);
/// Whether a line may end between two characters without a space: beside an ideograph or kana, but neither before
/// closing punctuation and small kana nor after opening punctuation. Korean is broken at its spaces.
bool may_break(char32_t before, char32_t after);
/// Removes the characters of `word` up to the first place where a line may end, and returns them. `word` must have no
/// space and must not be empty.
std::string_view next_unbroken(std::string_view& word);

}  // namespace tilescope::text
