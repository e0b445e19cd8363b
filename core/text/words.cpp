#include "core/text/words.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace tilescope::text {
namespace {

std::ptrdiff_t edits(std::string_view a, std::string_view b) {
    std::vector<std::ptrdiff_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (const char c : a) {
        std::ptrdiff_t diagonal = row[0]++;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::ptrdiff_t replaced = diagonal + (c == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

/// How far a name is from what was typed, both plain. Letters in common at the beginning, and then at the end, weigh
/// more than typing errors: "v100 sxm2" is a V100, "4090" an RTX-4090, and "l2" means l2_bytes.
std::ptrdiff_t strangeness(std::string_view typed, std::string_view name) {
    const auto front = std::mismatch(typed.begin(), typed.end(), name.begin(), name.end()).first - typed.begin();
    const auto back = std::mismatch(typed.rbegin(), typed.rend(), name.rbegin(), name.rend()).first - typed.rbegin();
    return edits(typed, name) - 2 * front - back;
}

}  // namespace

std::string join(const std::vector<std::string>& parts, const std::string& separator) {
    std::string all;
    for (const std::string& p : parts) all += (all.empty() ? "" : separator) + p;
    return all;
}

std::size_t width(std::string_view text) {
    const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };  // a character of UTF-8
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t most) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::string word(text.substr(0, text.find(' ')));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (lines.empty() || width(lines.back()) + 1 + width(word) > most)
            lines.push_back(word);
        else
            lines.back() += ' ' + word;
    }
    return lines;
}

std::string one_line(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    return text.substr(0, 400);
}

std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text.substr(0, 60)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    return out + (text.size() > 60 ? "...'" : "'");
}

std::string plain(std::string_view word) {
    std::string out;
    for (const char c : word)
        if (c != ' ' && c != '-' && c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

std::string nearest(std::string_view wanted, const std::vector<std::string>& names) {
    const std::string typed = plain(wanted.substr(0, 60));
    return *std::min_element(names.begin(), names.end(), [&](auto& a, auto& b) {
        return strangeness(typed, plain(a)) < strangeness(typed, plain(b));
    });
}

}  // namespace tilescope::text
