#include "core/text/words.hpp"

#include <algorithm>
#include <numeric>

namespace tilescope::text {
namespace {

std::size_t edits(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
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

std::string nearest(const std::string& wanted, const std::vector<std::string>& names) {
    return *std::min_element(names.begin(), names.end(), [short_wanted = wanted.substr(0, 60)](auto& a, auto& b) {
        return edits(short_wanted, a) < edits(short_wanted, b);
    });
}

}  // namespace tilescope::text
