#include "flags/text.hpp"

#include <cmath>
#include <cstdio>
#include <numeric>

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
    const std::string digits = u == 0 && n == std::floor(n) ? std::to_string(static_cast<Count>(n)) : three_digits(n);
    return *units[u] ? digits + ' ' + units[u] : digits;
}

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

std::string bytes(double n) { return scaled(n, 1000, {"B", "kB", "MB", "GB", "TB", "PB", "EB"}); }
std::string binary_bytes(Bytes n) { return scaled(static_cast<double>(n), 1024, {"B", "KiB", "MiB", "GiB", "TiB"}); }
std::string count(double n) { return scaled(n, 1000, {"", "k", "M", "G", "T", "P", "E"}); }

std::string grouped(Count n) {
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

std::string join(const std::vector<std::string>& parts, const std::string& separator) {
    std::string all;
    for (const std::string& p : parts) all += (all.empty() ? "" : separator) + p;
    return all;
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

Table::Table(std::vector<std::string> header, std::size_t left) : left_(left) { rows_.push_back(std::move(header)); }

void Table::add(std::vector<std::string> row) {
    row.resize(rows_[0].size());
    rows_.push_back(std::move(row));
}

void Table::print(std::ostream& out, const std::string& indent) const {
    std::vector<std::size_t> width(rows_[0].size());
    for (const auto& row : rows_)
        for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        std::string line = indent;
        for (std::size_t c = 0; c < width.size(); ++c) {
            const std::string& cell = rows_[r][c];
            const std::string pad(width[c] - cell.size(), ' ');
            line += (c ? "  " : "") + (c < left_ ? cell + pad : pad + cell);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out << line << '\n';
        if (r > 0) continue;
        std::size_t total = 2 * (width.size() - 1);
        for (const std::size_t w : width) total += w;
        out << indent << std::string(total, '-') << '\n';
    }
}

}  // namespace tilescope::text
