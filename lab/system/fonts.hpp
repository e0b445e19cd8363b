// Installed fonts for letters of any script, as fontconfig chooses them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/mode.hpp"

namespace tilescope::lab {

struct InstalledFont {
    std::string path;
    int number = 0;                 ///< number of the font in its file, which may hold several
    std::vector<char32_t> letters;  ///< the letters for which the font was chosen, in order of their codes
};

struct InstalledFonts {
    std::vector<InstalledFont> fonts;
    std::vector<char32_t> without;  ///< letters that no installed font has
};

/// The language of the letters, as fontconfig names it, because languages write the same ideographs in different forms.
/// Unless the user's locale is Chinese, Japanese or Korean, kana mean Japanese, Hangul Korean, and ideographs alone
/// simplified Chinese. Empty where the language does not matter.
std::string language_of(const std::vector<char32_t>& letters);

/// A few fonts that together have as many of the letters as possible, in the forms of the language. nullopt where the
/// program fc-match is missing. Throws Interrupted.
std::optional<InstalledFonts> fonts_for(std::vector<char32_t> letters, const std::string& language,
                                        const Control* control);

/// The letters of a text that no installed font has, in UTF-8, once each: gnuplot draws boxes for them where it draws
/// letters itself (PNG, PDF). The list is empty where fc-match is missing.
std::vector<std::string> letters_without_font(std::string_view text, const Control* control);

/// "中 (U+4E2D), 文 (U+6587) and 12 others".
std::string named_letters(const std::vector<char32_t>& letters);

}  // namespace tilescope::lab
