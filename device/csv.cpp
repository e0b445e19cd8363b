#include "device/csv.hpp"

#include <algorithm>
#include <cstdint>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::device {
using text::message;
namespace {

void append_utf8(std::string& text, std::uint32_t c) {
    const auto last = [&](int bits) { text += static_cast<char>(0x80 | (c >> bits & 0x3F)); };
    if (c < 0x80)
        text += static_cast<char>(c);
    else if (c < 0x800)
        text += static_cast<char>(0xC0 | c >> 6), last(0);
    else if (c < 0x10000)
        text += static_cast<char>(0xE0 | c >> 12), last(6), last(0);
    else
        text += static_cast<char>(0xF0 | c >> 18), last(12), last(6), last(0);
}

std::string of_utf16(std::string_view bytes, bool little) {
    const auto unit = [&](std::size_t k) -> std::uint32_t {
        const auto byte = [&](std::size_t i) {
            return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i]));
        };
        return little ? byte(k) | byte(k + 1) << 8 : byte(k) << 8 | byte(k + 1);
    };
    std::string text;
    for (std::size_t k = 0; k + 1 < bytes.size(); k += 2) {
        std::uint32_t c = unit(k);
        if (c >= 0xD800 && c < 0xDC00 && k + 3 < bytes.size())
            if (const std::uint32_t low = unit(k + 2); low >= 0xDC00 && low < 0xE000)
                c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00), k += 2;
        append_utf8(text, c);
    }
    return text;
}

/// The cell without what only groups digits: spaces (plain, no-break, narrow and thin) and apostrophes.
std::string without_groups(std::string_view cell) {
    std::string digits(cell);
    for (const std::string_view group : {" ", "'", "\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x89", "\xE2\x80\x99"})
        for (std::size_t at = 0; (at = digits.find(group, at)) != std::string::npos;) digits.erase(at, group.size());
    return digits;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The digits and marks between a minus and an exponent; empty where this is no number.
std::string_view mantissa_of(std::string_view number) {
    if (number.starts_with('-')) number.remove_prefix(1);
    const std::string_view mantissa = number.substr(0, number.find_first_of("eE"));
    const bool only =
        std::all_of(mantissa.begin(), mantissa.end(), [](char c) { return is_digit(c) || c == '.' || c == ','; });
    return only && std::any_of(mantissa.begin(), mantissa.end(), is_digit) ? mantissa : std::string_view();
}

constexpr char other_mark(char mark) { return mark == ',' ? '.' : ','; }

}  // namespace

std::string in_utf8(std::string_view bytes) {
    if (bytes.starts_with("\xEF\xBB\xBF")) return std::string(bytes.substr(3));
    if (bytes.starts_with("\xFF\xFE")) return of_utf16(bytes.substr(2), true);
    if (bytes.starts_with("\xFE\xFF")) return of_utf16(bytes.substr(2), false);
    if (bytes.size() > 1 && bytes[0] != '\0' && bytes[1] == '\0') return of_utf16(bytes, true);
    return std::string(bytes);
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::vector<std::string> cells_of(std::string_view line, char separator) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (std::size_t k = 0; k < line.size(); ++k) {
        const char c = line[k];
        if (c == '"' && quoted && k + 1 < line.size() && line[k + 1] == '"')
            cells.back() += line[++k];
        else if (c == '"')
            quoted = !quoted;
        else if (c == separator && !quoted)
            cells.emplace_back();
        else
            cells.back() += c;
    }
    return cells;
}

void Numbers::see(std::string_view cell, bool scaled) {
    const std::string number = without_groups(cell);
    const std::string_view mantissa = mantissa_of(number);
    const std::size_t last = mantissa.find_last_of(".,");
    if (last == mantissa.npos) {
        ungrouped_ = ungrouped_ || (mantissa.size() > 3 && number == cell);
        return;
    }
    const char mark = mantissa[last];
    const auto marks = std::count(mantissa.begin(), mantissa.end(), mark);
    const bool has_other = mantissa.find(other_mark(mark)) != mantissa.npos;
    const std::string_view before = mantissa.substr(0, last), behind = mantissa.substr(last + 1);
    const bool groups = number != cell;  // by spaces, for example: then any mark is the decimal mark
    if (marks > 1 && !has_other)
        shown_.emplace(other_mark(mark), cell);
    else if (has_other || groups || scaled || behind.size() != 3 || before.size() > 3 || before.empty() ||
             before == "0")
        shown_.emplace(mark, cell);
    else
        open_.emplace(mark, cell);
}

char Numbers::decimal() const {
    if (shown_.size() > 1)
        throw UsageError(
            message("ncu.two_decimal_marks", text::shown(shown_.at('.'), 40), text::shown(shown_.at(','), 40)));
    if (!shown_.empty()) return shown_.begin()->first;
    if (ungrouped_ && open_.size() == 1) return open_.begin()->first;
    if (separator_ != ',' && !open_.empty())
        throw UsageError(message("ncu.unclear_mark", text::shown(open_.begin()->second, 40)));
    return '.';
}

std::optional<double> Numbers::read(std::string_view cell) const {
    std::string number = without_groups(cell);
    if (mantissa_of(number).empty()) return std::nullopt;
    const char mark = decimal();
    std::erase(number, other_mark(mark));
    std::replace(number.begin(), number.end(), mark, '.');
    if (const std::size_t plus = number.find('+'); plus != std::string::npos && plus > 0) number.erase(plus, 1);
    return text::to_number(number);
}

}  // namespace tilescope::device
