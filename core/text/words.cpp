#include "core/text/words.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <numeric>
#include <utility>

#include "core/text/characters.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"

namespace tilescope::text {
namespace {

/// Edit distance: letters inserted, left out, replaced or exchanged with their neighbour.
std::ptrdiff_t edits(std::string_view a, std::string_view b) {
    std::vector<std::ptrdiff_t> before_last, last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
        row[0] = last[0] + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1});
            const bool exchanged = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
            if (exchanged) row[j + 1] = std::min(row[j + 1], before_last[j - 1] + 1);
        }
        before_last = std::exchange(last, row);
    }
    return last.back();
}

/// How far a name is from what was typed, both plain. Letters in common at the beginning, and then at the end, weigh
/// more than typing errors: "v100 sxm2" is a V100, "4090" an RTX-4090, and "l2" means l2_bytes.
std::ptrdiff_t strangeness(std::string_view typed, std::string_view name) {
    const auto front = std::mismatch(typed.begin(), typed.end(), name.begin(), name.end()).first - typed.begin();
    const auto back = std::mismatch(typed.rbegin(), typed.rend(), name.rbegin(), name.rend()).first - typed.rbegin();
    return edits(typed, name) - 2 * front - back;
}

/// Whether `c` is neither a control character nor one that only changes how other characters are drawn.
bool drawn(const Character& c) {
    constexpr std::pair<char32_t, char32_t> hidden[] = {
        {0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e},  {0x200b, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
    return c.valid && std::none_of(std::begin(hidden), std::end(hidden),
                                   [&](const auto& range) { return c.code >= range.first && c.code <= range.second; });
}

std::string escaped(const Character& c) {
    constexpr std::pair<char, const char*> named[] = {
        {'\n', "\\n"}, {'\r', "\\r"}, {'\t', "\\t"}, {'\'', "\\'"}, {'\\', "\\\\"}};
    for (const auto& [character, name] : named)
        if (c.bytes[0] == character) return name;
    if (drawn(c)) return std::string(c.bytes);
    const bool wide = c.bytes.size() > 1;
    char digits[16];
    std::snprintf(digits, sizeof digits, wide ? "\\u{%x}" : "\\x%02x",
                  wide ? static_cast<unsigned>(c.code) : static_cast<unsigned char>(c.bytes[0]));
    return digits;
}

/// The end of the parts from `begin` on that together are at most `most` characters wide.
template <class Iterator>
Iterator within(Iterator begin, Iterator end, std::size_t most) {
    for (std::size_t taken = 0; begin != end && (taken += std::max<std::size_t>(1, width(*begin))) <= most;) ++begin;
    return begin;
}

/// Whether one of the words that `typed` is made of is the name: --head-dim means --dim, and not --heads.
bool is_a_word_of(std::string_view typed, std::string_view name) {
    const std::string wanted = plain(name);
    while (!typed.empty()) {
        const std::size_t end = std::min(typed.find_first_of(" -_"), typed.size());
        if (end > 0 && plain(typed.substr(0, end)) == wanted) return true;
        typed.remove_prefix(std::min(end + 1, typed.size()));
    }
    return false;
}

/// How many letters two words have in common, at the beginning or at the end: whichever are more.
std::size_t letters_in_common(std::string_view a, std::string_view b) {
    const auto front = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
    const auto back = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin();
    return static_cast<std::size_t>(std::max(front, back));
}

/// Whether the typed word may mean the name, both plain: it begins or ends the name, they have half of the longer one
/// in common at one end, or there are few edits for their length.
bool is_close(std::string_view typed, std::string_view name) {
    const std::size_t common = letters_in_common(typed, name), longer = std::max(typed.size(), name.size());
    if (std::min(typed.size(), name.size()) < 2) return false;
    if (common == typed.size() || 2 * common >= longer) return true;
    return edits(typed, name) <= static_cast<std::ptrdiff_t>((longer + 1) / 3);
}

/// add_last() adds the last name to the list of the others.
template <class F>
std::string listed_with(const std::vector<std::string>& names, F add_last) {
    std::string list;
    for (const std::string& name : names)
        list = &name == &names.front()  ? name
               : &name == &names.back() ? add_last(list, name)
                                        : message("list.more", list, name);
    return list;
}

}  // namespace

std::string join(const std::vector<std::string>& parts, const std::string& separator) {
    std::string all;
    for (const std::string& p : parts) all += (all.empty() ? "" : separator) + p;
    return all;
}

std::string listed(const std::vector<std::string>& names) {
    return listed_with(names, [](const auto& list, const auto& last) { return message("list.and", list, last); });
}

std::string alternatives(const std::vector<std::string>& names) {
    return listed_with(names, [](const auto& list, const auto& last) { return message("list.or", list, last); });
}

std::string capitalised(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

std::string as_sentence(std::string clause) { return capitalised(std::move(clause)) + '.'; }

std::size_t width(std::string_view text) {
    std::size_t sum = 0;
    while (!text.empty()) {
        const Character c = next_character(text);
        sum += c.valid ? columns(c.code) : 1;
    }
    return sum;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t most) {
    std::vector<std::string> lines;
    const auto add = [&](std::string_view piece, const char* space) {
        if (lines.empty() || width(lines.back()) + width(space) + width(piece) > most)
            lines.emplace_back(piece);
        else
            lines.back().append(space).append(piece);
    };
    while (!text.empty()) {
        std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        add(word.empty() ? word : next_unbroken(word), " ");
        while (!word.empty()) add(next_unbroken(word), "");
    }
    return lines;
}

std::string_view without_last_sentence(std::string_view text) {
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    const std::size_t end = text.rfind(". ");
    return end == text.npos ? "" : text.substr(0, end + 1);
}

bool is_utf8(std::string_view text) {
    while (!text.empty())
        if (!next_character(text).valid) return false;
    return true;
}

bool printable(std::string_view text) {
    while (!text.empty())
        if (!drawn(next_character(text))) return false;
    return true;
}

std::string shown(std::string_view text, std::size_t most) {
    constexpr std::size_t first = 40, last = 17;  // characters of a longer text that are shown
    const bool clear = !text.empty() && text.front() != ' ' && text.back() != ' ';
    // Combining marks have no width, so the number of bytes is limited, too.
    const auto is_short = [&](std::string_view s) { return width(s) <= most && s.size() <= 4 * most; };
    if (clear && is_short(text) && printable(text)) return std::string(text);
    std::vector<std::string> parts;
    while (!text.empty()) parts.push_back(escaped(next_character(text)));
    std::string all = join(parts, "");
    if (!is_short(all))
        all = std::accumulate(parts.begin(), within(parts.begin(), parts.end(), first), std::string()) +
              std::accumulate(within(parts.rbegin(), parts.rend(), last).base(), parts.end(), std::string("..."));
    return '\'' + all + '\'';
}

std::string plain(std::string_view word) {
    std::string out;
    for (const char c : word)
        if (c != ' ' && c != '-' && c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

std::vector<std::string> meant(std::string_view wanted, const std::vector<std::string>& names) {
    const std::string typed = plain(wanted);
    std::vector<std::string> found;
    for (const std::string& name : names) {
        if (plain(name) == typed) return {name};
        if (!typed.empty() && plain(name).starts_with(typed)) found.push_back(name);
    }
    return found;
}

std::optional<std::string> nearest(std::string_view wanted, const std::vector<std::string>& names) {
    wanted = wanted.substr(0, 60);
    const std::string typed = plain(wanted);
    using Distance = std::pair<bool, std::ptrdiff_t>;
    std::optional<std::pair<Distance, std::string>> best;
    for (const std::string& name : names) {
        const bool word = is_a_word_of(wanted, name);
        if (!word && !is_close(typed, plain(name))) continue;
        const Distance distance{!word, strangeness(typed, plain(name))};
        if (!best || distance < best->first) best.emplace(distance, name);
    }
    return best ? std::optional(best->second) : std::nullopt;
}

std::string did_you_mean(std::string_view before, std::string_view wanted, const std::vector<std::string>& names,
                         std::string_view otherwise) {
    const auto name = nearest(wanted, names);
    return name ? message("list.did_you_mean", before, *name) : std::string(otherwise);
}

}  // namespace tilescope::text
