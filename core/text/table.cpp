#include "core/text/table.hpp"

#include <algorithm>

#include "core/text/words.hpp"

namespace tilescope::text {

Table::Table(std::vector<std::string> header, std::size_t left) : left_(left) { rows_.push_back(std::move(header)); }

void Table::add(std::vector<std::string> row) {
    row.resize(rows_[0].size());
    rows_.push_back(std::move(row));
}

void Table::print(std::ostream& out, const std::string& indent) const {
    std::vector<std::size_t> widest(rows_[0].size());
    for (const auto& row : rows_)
        for (std::size_t c = 0; c < row.size(); ++c) widest[c] = std::max(widest[c], width(row[c]));
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        std::string line = indent;
        for (std::size_t c = 0; c < widest.size(); ++c) {
            const std::string& cell = rows_[r][c];
            const std::string pad(widest[c] - width(cell), ' ');
            line += (c ? "  " : "") + (c < left_ ? cell + pad : pad + cell);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out << line << '\n';
        if (r > 0) continue;
        std::size_t total = 2 * (widest.size() - 1);
        for (const std::size_t w : widest) total += w;
        out << indent << std::string(total, '-') << '\n';
    }
}

}  // namespace tilescope::text
