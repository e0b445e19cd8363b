#include "core/text/numbers.hpp"

#include <cmath>
#include <cstdio>
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
    // 999.5 would print as 1000.
    while (u + 1 < units.size() && n >= base - base * 0.0005) n /= base, ++u;
    const std::string digits =
        u == 0 && n == std::floor(n) ? std::to_string(static_cast<std::int64_t>(n)) : three_digits(n);
    return *units[u] ? digits + ' ' + units[u] : digits;
}

}  // namespace

std::string bytes(double n) { return scaled(n, 1000, {"B", "kB", "MB", "GB", "TB", "PB", "EB"}); }
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

std::string number(double x) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.3g", x);
    return buffer;
}

}  // namespace tilescope::text
