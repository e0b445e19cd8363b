#include "core/text/characters.hpp"

#include <algorithm>
#include <iterator>

namespace tilescope::text {
namespace {

struct CodeRange {
    char32_t first, last;
};

/// Whether `code` is in one of `ranges`, which are in order.
template <std::size_t n>
bool in(const CodeRange (&ranges)[n], char32_t code) {
    const CodeRange* at = std::upper_bound(std::begin(ranges), std::end(ranges), code,
                                           [](char32_t c, const CodeRange& r) { return c < r.first; });
    return at != std::begin(ranges) && code <= (at - 1)->last;
}

/// Unicode's East Asian Width (UAX 11): W and F, as ranges that may hold unassigned characters.
constexpr CodeRange double_width[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},  {0x3041, 0xa4cf},   {0xa960, 0xa97f},
                                      {0xac00, 0xd7a3},   {0xf900, 0xfaff},  {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},
                                      {0xff01, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
                                      {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
constexpr CodeRange zero_width[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x1ab0, 0x1aff},
                                    {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x20d0, 0x20ff},
                                    {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
/// Ideographs, kana, and their punctuation.
constexpr CodeRange without_spaces[] = {{0x2e80, 0x312f}, {0x3190, 0xa4cf}, {0xf900, 0xfaff},
                                        {0xfe30, 0xfe4f}, {0xff01, 0xff9f}, {0x20000, 0x3fffd}};
// Prohibited at the beginning and at the end of a line (UAX 14: CL, CP, EX, IS, NS, CJ, IN; OP).
constexpr std::u32string_view never_first =
    U"!%),.:;?]}\u00bb\u2014\u2019\u201d\u2025\u2026\u2030\u2103\u3001\u3002\u3005\u3009\u300b\u300d\u300f\u3011\u3015"
    U"\u3017\u3019\u301f\u3041\u3043\u3045\u3047\u3049\u3063\u3083\u3085\u3087\u308e\u3095\u3096\u309b\u309c\u309d"
    U"\u309e\u30a1"
    U"\u30a3"
    U"\u30a5\u30a7\u30a9\u30c3\u30e3\u30e5\u30e7\u30ee\u30f5\u30f6\u30fb\u30fc\u30fd\u30fe\uff01\uff05\uff09\uff0c"
    U"\uff0e"
    U"\uff1a\uff1b\uff1f\uff3d\uff5d\uff60";
constexpr std::u32string_view never_last =
    U"([{\u00ab\u2018\u201c\u3008\u300a\u300c\u300e\u3010\u3014\u3016\u3018\u301d\uff08\uff3b\uff5b\uff5f";

}  // namespace

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

std::string utf8(char32_t code) {
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) code = 0xfffd;
    if (code < 0x80) return {static_cast<char>(code)};
    const int further = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first
    std::string bytes;
    for (int k = further; k >= 0; --k) {
        const unsigned six = static_cast<unsigned>(code >> (6 * k)) & (k == further ? 0x3fu >> further : 0x3fu);
        bytes += static_cast<char>(k == further ? (0xf0u << (3 - further) & 0xffu) | six : 0x80u | six);
    }
    return bytes;
}

std::size_t columns(char32_t code) {
    if (code < 0x300) return 1;
    return in(double_width, code) ? 2 : in(zero_width, code) ? 0 : 1;
}

bool may_break(char32_t before, char32_t after) {
    if (before == U' ' || after == U' ') return false;
    if (!in(without_spaces, before) && !in(without_spaces, after)) return false;
    const bool small_kana = after >= 0x31f0 && after <= 0x31ff;
    return columns(after) > 0 && !small_kana && never_first.find(after) == never_first.npos &&
           never_last.find(before) == never_last.npos;
}

std::string_view next_unbroken(std::string_view& word) {
    const std::string_view whole = word;
    char32_t before = next_character(word).code;
    while (!word.empty()) {
        std::string_view rest = word;
        const char32_t code = next_character(rest).code;
        if (may_break(before, code)) break;
        before = code, word = rest;
    }
    return whole.substr(0, whole.size() - word.size());
}

}  // namespace tilescope::text
