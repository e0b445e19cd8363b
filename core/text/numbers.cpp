#include "core/text/numbers.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace tilescope::text {
namespace {

std::string three_digits(double x) {
    char buffer[32];
    const int decimals = x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2;
    std::snprintf(buffer, sizeof buffer, "%.*f", decimals, x);
    return buffer;
}

std::string scaled(double n, double base, const std::vector<const char*>& units) {
    std::size_t u = 0;
    // Three digits would round 999.5 to 1000, so the next unit begins there.
    while (u + 1 < units.size() && n >= base - base * 0.0005) n /= base, ++u;
    const std::string digits =
        u == 0 && n == std::floor(n) ? std::to_string(static_cast<std::int64_t>(n)) : three_digits(n);
    return *units[u] ? digits + ' ' + units[u] : digits;
}

template <class T>
std::errc read_whole(std::string_view text, T& value) {
    constexpr std::string_view units = "kKMG";
    constexpr T factors[] = {1 << 10, 1 << 10, 1 << 20, 1 << 30};
    const std::size_t unit = text.empty() ? units.npos : units.find(text.back());
    if (unit != units.npos) text.remove_suffix(1);
    T read = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::errc::invalid_argument;
    if (error != std::errc()) return error;
    if (unit != units.npos && __builtin_mul_overflow(read, factors[unit], &read)) return std::errc::result_out_of_range;
    value = read;
    return {};
}

/// Reads all of `text`, which may have digits, a dot, a minus and an exponent.
bool read_digits(std::string_view text, double& x) {
#ifdef __cpp_lib_to_chars
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
    return error == std::errc() && end == text.data() + text.size();
#else  // the browser's library reads whole numbers only; it has no locale but C's
    const std::string whole(text);
    char* end = nullptr;
    x = std::strtod(whole.c_str(), &end);
    return end != whole.c_str() && end == whole.c_str() + whole.size();
#endif
}

}  // namespace

std::string bytes(double n) { return scaled(n, 1000, {"B", "kB", "MB", "GB", "TB", "PB", "EB"}); }
std::string bytes(std::int64_t n) { return bytes(static_cast<double>(n)); }
std::string binary_bytes(std::int64_t n) {
    return scaled(static_cast<double>(n), 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}
std::string count(double n) { return scaled(n, 1000, {"", "k", "M", "G", "T", "P", "E"}); }

std::string grouped(std::int64_t n) {
    std::string digits = std::to_string(n);
    for (std::ptrdiff_t k = static_cast<std::ptrdiff_t>(digits.size()) - 3; k > (n < 0 ? 1 : 0); k -= 3)
        digits.insert(static_cast<std::size_t>(k), ",");
    return digits;
}

std::string microseconds(double us) {
    const auto one_decimal = [](double x) {
        return x >= 1000 ? grouped(std::llround(x)) : number(std::round(10 * x) / 10);
    };
    if (us >= 1e7) return one_decimal(us / 1e6) + " s";
    if (us >= 1e5) return one_decimal(us / 1e3) + " ms";
    return (us >= 100 ? grouped(std::llround(us)) : one_decimal(us)) + " µs";
}

std::string duration(double seconds) {
    if (seconds == 0) return "0 s";
    const std::pair<double, const char*> units[] = {{1, " s"}, {1e-3, " ms"}, {1e-6, " µs"}};
    for (const auto& [unit, name] : units)
        if (seconds >= unit) return number(seconds / unit) + name;
    return number(seconds / 1e-9) + " ns";
}

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + '%'; }

std::string number(double x) {
    char buffer[32];
    const double size = std::abs(x);
    const bool long_whole = size >= 999.5 && size < 1e6;  // 1920, and not 1.92e+03
    std::snprintf(buffer, sizeof buffer, long_whole ? "%.0f" : "%.3g", x);
    return buffer;
}

std::string exact(double x) {
    char buffer[32];
    const bool whole = x == std::floor(x) && std::abs(x) < 1e15;  // 100, and not 1e+02
    std::snprintf(buffer, sizeof buffer, "%.0f", whole ? x : 0);
    for (int digits = 1; !whole && digits <= 17; ++digits) {
        std::snprintf(buffer, sizeof buffer, "%.*g", digits, x);
        if (to_number(buffer) == x) break;
    }
    return buffer;
}

std::string tenths(double x) { return exact(std::round(10 * x) / 10); }

std::optional<double> to_number(std::string_view text) {
    double x = 0;
    const bool digits = !text.empty() && text[0] != '+' && text.find_first_not_of("0123456789.-+eE") == text.npos;
    if (digits && read_digits(text, x) && std::isfinite(x)) return x;
    return std::nullopt;
}

std::errc to_whole(std::string_view text, std::int64_t& value) { return read_whole(text, value); }
std::errc to_whole(std::string_view text, std::uint64_t& value) { return read_whole(text, value); }

}  // namespace tilescope::text
