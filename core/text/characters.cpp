#include "core/text/characters.hpp"

#include <cstddef>

namespace tilescope::text {

Character next_character(std::string_view& text) {
    constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};  // code that needs so many bytes
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
    const std::size_t size = byte(0) < 0x80 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
    char32_t code = size == 1 ? byte(0) : byte(0) & (0x7fu >> size);
    bool valid = (byte(0) < 0x80 || (byte(0) >= 0xc0 && byte(0) < 0xf8)) && size <= text.size();
    for (std::size_t k = 1; valid && k < size; ++k) {
        valid = (byte(k) & 0xc0) == 0x80;
        code = code << 6 | (byte(k) & 0x3fu);
    }
    valid = valid && code >= least[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    const std::string_view bytes = text.substr(0, valid ? size : 1);
    text.remove_prefix(bytes.size());
    return {bytes, code, valid};
}

}  // namespace tilescope::text
