#include "lab/study/vary.hpp"

#include <cmath>
#include <cstdio>

#include "core/machine/error.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
namespace {

constexpr std::size_t most_values = 100'000;

[[noreturn]] void refuse(const std::string& text, const std::string& what) {
    throw UsageError("--vary " + text::shown(text) + ": " + what +
                     "; try seq=256:16k:x2, seq=512:4096:+512 or br=16,32,64");
}

double number(const std::string& text, const std::string& part) {
    if (std::int64_t whole = 0; text::to_whole(part, whole) == std::errc()) return static_cast<double>(whole);
    if (const auto x = text::to_number(part)) return *x;
    refuse(text, text::shown(part) + " is not a number");
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
    if (parts.size() != 3 || parts[2].size() < 2) refuse(text, "a range is first:last:xFACTOR or first:last:+STEP");
    const double first = number(text, parts[0]), last = number(text, parts[1]);
    const char kind = parts[2][0];
    const double k = number(text, parts[2].substr(1));
    if (kind != 'x' && kind != '+') refuse(text, "a range is first:last:xFACTOR or first:last:+STEP");
    if (kind == 'x' && (k <= 1 || first <= 0)) refuse(text, "a factor must be above 1 and start above 0");
    if (kind == '+' && k <= 0) refuse(text, "a step must be above 0");
    if (last < first) refuse(text, "the range ends before it begins");
    std::vector<std::string> values;
    for (double x = first; x <= last; x = kind == 'x' ? x * k : x + k) {
        if (values.size() == most_values) refuse(text, "more than 100000 values");
        values.push_back(shortest(x));
    }
    return values;
}

}  // namespace

SweepAxis parse_axis(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) refuse(text, "must be KEY=VALUES");
    SweepAxis axis{text.substr(0, equals), {}};
    const std::string values = text.substr(equals + 1);
    const auto parts = split(values, ':');
    axis.values = parts.size() > 1 ? range(text, parts) : split(values, ',');
    if (axis.values.size() > most_values) refuse(text, "more than 100000 values");
    for (const std::string& v : axis.values)
        if (v.empty()) refuse(text, "a value is empty");
    return axis;
}

}  // namespace tilescope::lab
