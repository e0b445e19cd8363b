#include "gui/draw/typeface.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tilescope::gui {
namespace {

/// An OpenType file: tables of numbers whose high bytes come first. What lies outside reads as 0. `number`: of the
/// font, in a collection of fonts.
class FontFile {
  public:
    explicit FontFile(std::string_view bytes, int number = 0) : bytes_(bytes) {
        if (bytes.starts_with("ttcf")) begin_ = u32(12 + 4 * static_cast<std::size_t>(number));
    }

    unsigned u8(std::size_t at) const { return at < bytes_.size() ? static_cast<unsigned char>(bytes_[at]) : 0; }
    unsigned u16(std::size_t at) const { return u8(at) << 8 | u8(at + 1); }
    int i16(std::size_t at) const { return static_cast<std::int16_t>(u16(at)); }
    std::size_t u32(std::size_t at) const { return std::size_t{u16(at)} << 16 | u16(at + 2); }

    /// Where a table begins.
    std::optional<std::size_t> table(std::string_view tag) const {
        for (std::size_t k = 0, at = begin_ + 12; k < u16(begin_ + 4); ++k, at += 16)
            if (bytes_.substr(std::min(at, bytes_.size()), 4) == tag) return u32(at + 8);
        return std::nullopt;
    }

  private:
    std::string_view bytes_;
    std::size_t begin_ = 0;  // of the list of tables
};

/// The typographic family (name 16), or else the font's own family (name 1), from its names for Windows, in UTF-16.
std::string family_of(const FontFile& file) {
    constexpr unsigned family = 1, family_of_weights = 16, windows = 3;
    std::string name;
    const auto names = file.table("name");
    for (std::size_t k = 0; names && k < file.u16(*names + 2); ++k) {
        const std::size_t record = *names + 6 + 12 * k;
        const unsigned what = file.u16(record + 6);
        if (file.u16(record) != windows || (what != family && what != family_of_weights)) continue;
        if (what == family && !name.empty()) continue;
        name.clear();
        const std::size_t at = *names + file.u16(*names + 4) + file.u16(record + 10);
        for (std::size_t c = 0; c + 1 < file.u16(record + 8); c += 2) {
            const unsigned letter = file.u16(at + c);
            // Real families have plain names. Other characters are dropped: no name can break out of an attribute.
            const bool plain = letter == ' ' || letter == '-' || (letter >= '0' && letter <= '9') ||
                               (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z');
            if (plain) name += static_cast<char>(letter);
        }
    }
    return name;
}

}  // namespace

bool has_outlines(std::string_view bytes, int number) {
    const FontFile file(bytes, number);
    return file.table("glyf") || file.table("CFF ");
}

float line_of_em(std::string_view bytes, int number) {
    const FontFile file(bytes, number);
    const auto head = file.table("head"), lines = file.table("hhea");
    const int height = lines ? file.i16(*lines + 4) - file.i16(*lines + 6) : 0;
    const unsigned em = head ? file.u16(*head + 18) : 0;
    return height > 0 && em > 0 ? static_cast<float>(height) / static_cast<float>(em) : 1;
}

Typeface typeface_of(const ImFont* font) {
    Typeface t{"", 400, font->FontSize, std::round(font->Ascent)};
    if (!font->ConfigData || !font->ConfigData->FontData) return t;
    const std::string_view bytes(static_cast<const char*>(font->ConfigData->FontData),
                                 static_cast<std::size_t>(font->ConfigData->FontDataSize));
    const FontFile file(bytes);
    t.family = family_of(file);
    if (const auto os2 = file.table("OS/2")) t.weight = static_cast<int>(file.u16(*os2 + 4));
    t.em = font->FontSize / line_of_em(bytes);
    return t;
}

}  // namespace tilescope::gui
