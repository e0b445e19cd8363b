// Characters of UTF-8, one by one.
#pragma once

#include <string_view>

namespace tilescope::text {

/// A character of UTF-8, or a single byte that does not begin a valid one.
struct Character {
    std::string_view bytes;
    char32_t code;
    bool valid;
};

/// Takes the first character of `text`, which is not empty.
Character next_character(std::string_view& text);

}  // namespace tilescope::text
