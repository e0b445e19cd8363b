#include "lab/system/fonts.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "core/machine/error.hpp"
#include "core/text/characters.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/system/child.hpp"

namespace tilescope::lab {
namespace {

constexpr const char* matcher = "fc-match";

std::string hexadecimal(char32_t code) {
    char digits[8];
    return {digits, std::to_chars(digits, digits + sizeof digits, static_cast<unsigned>(code), 16).ptr};
}

char32_t code_in(std::string_view digits) {
    unsigned code = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    return code;
}

/// Removes from `letters` those that a font has, and returns them. `charset`: "20-7e a0 4e00-9fa5", as fontconfig
/// prints it.
std::vector<char32_t> taken(std::vector<char32_t>& letters, const std::string& charset) {
    std::istringstream ranges(charset);
    std::vector<char32_t> found;
    for (std::string range; ranges >> range;) {
        const std::size_t dash = std::min(range.find('-'), range.size());
        const char32_t first = code_in(range.substr(0, dash));
        const char32_t last = dash < range.size() ? code_in(range.substr(dash + 1)) : first;
        std::copy_if(letters.begin(), letters.end(), std::back_inserter(found),
                     [&](char32_t c) { return c >= first && c <= last; });
    }
    std::erase_if(letters, [&](char32_t c) { return std::find(found.begin(), found.end(), c) != found.end(); });
    return found;
}

/// The font that has most of the letters. Removes these from `letters`. Colour and bitmap fonts are not considered,
/// because they have no outlines.
InstalledFont best_font(std::vector<char32_t>& letters, const std::string& language, const Control* control) {
    std::string wanted = (language.empty() ? "" : ":lang=" + language) + ":color=false:scalable=true:charset=";
    for (const char32_t c : letters) wanted += hexadecimal(c) + ' ';
    constexpr std::string_view begin = "\n=";  // fc-match's warnings come through the same pipe
    Child match({matcher, "-f", std::string(begin) + "%{file}\n%{index}\n%{charset}\n", wanted});
    std::string said;
    while (match.read_more(said, control)) {
    }
    const std::size_t at = said.find(begin);
    if (match.wait() != 0 || at == said.npos) return {};
    InstalledFont font;
    std::istringstream lines(said.substr(at + begin.size()));
    std::string number, charset;
    std::getline(lines, font.path), std::getline(lines, number), std::getline(lines, charset);
    std::from_chars(number.data(), number.data() + number.size(), font.number);
    font.number &= 0xffff;  // the upper bits are the instance of a variable font
    font.letters = taken(letters, charset);
    return font;
}

}  // namespace

std::string language_of(const std::vector<char32_t>& letters) {
    for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"})
        if (const char* locale = std::getenv(variable); locale && *locale) {
            const std::string_view name = locale;
            if (name.starts_with("zh") || name.starts_with("ja") || name.starts_with("ko")) return "";
            break;
        }
    const auto any = [&](char32_t first, char32_t last) {
        return std::any_of(letters.begin(), letters.end(), [&](char32_t c) { return c >= first && c <= last; });
    };
    if (any(0x3040, 0x30ff)) return "ja";
    if (any(0xac00, 0xd7a3)) return "ko";
    return any(0x3400, 0x9fff) ? "zh-cn" : "";
}

std::optional<InstalledFonts> fonts_for(std::vector<char32_t> letters, const std::string& language,
                                        const Control* control) {
    if (!on_path(matcher)) return std::nullopt;
    InstalledFonts found;
    try {
        while (!letters.empty()) {
            InstalledFont font = best_font(letters, language, control);
            if (font.letters.empty()) break;
            found.fonts.push_back(std::move(font));
        }
    } catch (const RunError&) {  // fc-match cannot be started: boxes stand for the letters
    }
    found.without = std::move(letters);
    return found;
}

std::vector<std::string> letters_without_font(std::string_view text, const Control* control) {
    constexpr char32_t last_latin = 0x24f;  // every font has the letters up to here
    std::vector<char32_t> letters;
    while (!text.empty()) {
        const text::Character c = text::next_character(text);
        if (text::printable(c.bytes) && c.code > last_latin &&
            std::find(letters.begin(), letters.end(), c.code) == letters.end())
            letters.push_back(c.code);
    }
    std::sort(letters.begin(), letters.end());
    std::vector<std::string> without;
    const std::string language = language_of(letters);
    if (const auto found = fonts_for(std::move(letters), language, control))
        std::transform(found->without.begin(), found->without.end(), std::back_inserter(without), text::utf8);
    return without;
}

std::string named_letters(const std::vector<char32_t>& letters) {
    constexpr std::size_t most = 5;
    std::vector<std::string> names;
    for (const char32_t c : letters) {
        if (names.size() == most) break;
        char code[16];
        std::snprintf(code, sizeof code, " (U+%04X)", static_cast<unsigned>(c));
        names.push_back(text::utf8(c) + code);
    }
    if (letters.size() > most) names.push_back(text::message("fonts.others", std::ssize(letters) - std::ssize(names)));
    return text::listed(names);
}

}  // namespace tilescope::lab
