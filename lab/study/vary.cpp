#include "lab/study/vary.hpp"

#include <cmath>
#include <cstdio>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr std::size_t most_values = 100'000;

[[noreturn]] void refuse(const std::string& text, const std::string& what) {
    throw UsageError(message("vary.refused", text::shown(text), what));
}

[[noreturn]] void refuse_length(const std::string& text) {
    refuse(text, message("vary.too_many", std::to_string(most_values)));
}

double number(const std::string& text, const std::string& part) {
    if (std::int64_t whole = 0; text::to_whole(part, whole) == std::errc()) return static_cast<double>(whole);
    if (const auto x = text::to_number(part)) return *x;
    refuse(text, message("vary.no_number", text::shown(part)));
}

std::string shortest(double x) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, x == std::floor(x) && std::abs(x) < 1e15 ? "%.0f" : "%.10g", x);
    return buffer;
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

std::vector<std::string> range(const std::string& text, const std::vector<std::string>& parts) {
    if (parts.size() != 3 || parts[2].size() < 2) refuse(text, message("vary.no_range"));
    const double first = number(text, parts[0]), last = number(text, parts[1]);
    const char kind = parts[2][0];
    const double k = number(text, parts[2].substr(1));
    if (kind != 'x' && kind != '+') refuse(text, message("vary.no_range"));
    if (kind == 'x' && (k <= 1 || first <= 0)) refuse(text, message("vary.no_factor"));
    if (kind == '+' && k <= 0) refuse(text, message("vary.no_step"));
    if (last < first) refuse(text, message("vary.ends_early"));
    std::vector<std::string> values;
    for (double x = first; x <= last; x = kind == 'x' ? x * k : x + k) {
        if (values.size() == most_values) refuse_length(text);
        values.push_back(shortest(x));
    }
    return values;
}

}  // namespace

SweepAxis parse_axis(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) refuse(text, message("vary.no_key"));
    SweepAxis axis{text.substr(0, equals), {}};
    const std::string values = text.substr(equals + 1);
    const auto parts = split(values, ':');
    axis.values = parts.size() > 1 ? range(text, parts) : split(values, ',');
    if (axis.values.size() > most_values) refuse_length(text);
    for (const std::string& v : axis.values)
        if (v.empty()) refuse(text, message("vary.empty_value"));
    return axis;
}

}  // namespace tilescope::lab
