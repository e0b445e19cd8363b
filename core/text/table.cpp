#include "core/text/table.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/text/message.hpp"
#include "core/text/page.hpp"
#include "core/text/quoting.hpp"
#include "core/text/words.hpp"

namespace tilescope::text {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t gap = 2;          // between columns
constexpr std::size_t further_in = 2;   // indent of a line that continues a cell
constexpr std::size_t least_text = 20;  // width that a column of text is not cut below

std::size_t margin_of(const std::string& cell) { return std::min(cell.find_first_not_of(' '), cell.size()); }

/// The smallest width to which a cell can be cut, in characters.
std::size_t narrowest(const std::string& cell, std::size_t continued) {
    std::size_t word = 0;
    for (const std::string& w : wrapped(cell.substr(margin_of(cell)), 1)) word = std::max(word, width(w));
    return std::min(width(cell), margin_of(cell) + continued + word);
}

/// The cell in lines of at most `most` characters; lines after the first are indented by `continued` more.
Lines cut(const std::string& cell, std::size_t most, std::size_t continued) {
    if (width(cell) <= most) return {cell};
    const std::size_t margin = margin_of(cell);
    Lines lines = wrapped(cell.substr(margin), most - margin - continued);
    for (std::size_t k = 0; k < lines.size(); ++k) lines[k].insert(0, margin + (k > 0 ? continued : 0), ' ');
    return lines;
}

std::size_t total(const std::vector<std::size_t>& widths) {
    return std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
}

/// Groups of columns that fit into `room`, each with the first `keys` columns. A column that `stays` is put into the
/// group of the column before.
std::vector<std::vector<std::size_t>> groups(const std::vector<std::size_t>& widths, const std::vector<bool>& stays,
                                             std::size_t keys, std::size_t room) {
    std::vector<std::size_t> key(keys);
    std::iota(key.begin(), key.end(), std::size_t{0});
    const std::size_t key_width = total({widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(keys)});
    std::vector<std::vector<std::size_t>> all = {key};
    std::size_t used = key_width;
    for (std::size_t c = keys; c < widths.size(); ++c) {
        std::size_t needed = gap + widths[c];
        for (std::size_t k = c + 1; !stays[c] && k < widths.size() && stays[k]; ++k) needed += gap + widths[k];
        if (used + needed > room && all.back().size() > keys) {
            all.push_back(key);
            used = key_width;
        }
        all.back().push_back(c);
        used += gap + widths[c];
    }
    return all;
}

/// The cells, empty ones too, quoted by `quoted` and separated by `between`.
std::string joined(const Lines& cells, const char* between, std::string (*quoted)(std::string_view)) {
    std::string line = quoted(cells[0]);
    for (std::size_t c = 1; c < cells.size(); ++c) line += between + quoted(cells[c]);
    return line;
}

}  // namespace

std::vector<std::string> titles(const std::vector<std::string_view>& ids) {
    std::vector<std::string> all;
    for (const std::string_view id : ids) all.push_back(id.empty() ? "" : message(id));
    return all;
}

Table::Table(std::vector<std::string> header, std::size_t left) : left_(left), stays_(header.size()) {
    rows_.push_back(std::move(header));
}

void Table::add(std::vector<std::string> row) {
    row.resize(rows_[0].size());
    rows_.push_back(std::move(row));
}

void Table::keep_together(std::size_t first, std::size_t columns) {
    for (std::size_t c = first + 1; c < first + columns; ++c) stays_[c] = true;
}

template <class Header, class Cell>
Table::Sizes Table::widest(Header&& of_header, Cell&& of_cell) const {
    Sizes sizes;
    for (const std::string& cell : rows_[0]) sizes.push_back(of_header(cell));
    for (std::size_t r = 1; r < rows_.size(); ++r)
        for (std::size_t c = 0; c < sizes.size(); ++c) sizes[c] = std::max(sizes[c], of_cell(rows_[r][c]));
    return sizes;
}

Table::Sizes Table::widths(std::size_t room) const {
    const auto whole = [](const std::string& cell) { return width(cell); };
    const auto header_cut = [](const std::string& cell) { return narrowest(cell, 0); };
    const auto cell_cut = [](const std::string& cell) { return narrowest(cell, further_in); };
    Sizes sizes = widest(whole, whole);
    if (total(sizes) <= room) return sizes;
    sizes = widest(header_cut, whole);
    if (total(sizes) <= room) return sizes;
    const auto longest = std::max_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(left_));
    const std::size_t least = widest(header_cut, cell_cut)[static_cast<std::size_t>(longest - sizes.begin())];
    const std::size_t others = total(sizes) - *longest;
    *longest = std::min(*longest, std::max({least, least_text, room - std::min(room, others)}));
    return sizes;
}

void Table::print_row(std::ostream& out, const std::string& indent, std::size_t row, const Sizes& columns,
                      const Sizes& widths) const {
    const bool header = row == 0;
    std::vector<Lines> cells;
    std::size_t height = 1;
    for (const std::size_t c : columns) {
        cells.push_back(cut(rows_[row][c], widths[c], header ? 0 : further_in));
        height = std::max(height, cells.back().size());
    }
    for (std::size_t k = 0; k < height; ++k) {
        std::string line = indent;
        for (std::size_t n = 0; n < columns.size(); ++n) {
            // Headers align at the bottom, above the rule; cells align at the top.
            const std::size_t above = header ? height - cells[n].size() : 0;
            const bool there = k >= above && k - above < cells[n].size();
            const std::string cell = there ? cells[n][k - above] : "";
            const std::string pad(widths[columns[n]] - width(cell), ' ');
            line += std::string(n > 0 ? gap : 0, ' ') + (columns[n] < left_ ? cell + pad : pad + cell);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out << line << '\n';
    }
}

void Table::print(std::ostream& out, const std::string& indent) const {
    const std::size_t room = line_width - indent.size();
    const Sizes fitted = widths(room);
    const char* between = "";
    for (const Sizes& columns : groups(fitted, stays_, left_, room)) {
        out << std::exchange(between, "\n");
        Sizes shown;
        for (const std::size_t c : columns) shown.push_back(fitted[c]);
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            print_row(out, indent, r, columns, fitted);
            if (r == 0) out << indent << std::string(total(shown), '-') << '\n';
        }
    }
}

void Table::print_markdown(std::ostream& out) const {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        out << "| " << joined(rows_[r], " | ", in_markdown) << " |\n";
        if (r > 0) continue;
        for (std::size_t c = 0; c < rows_[0].size(); ++c) out << (c < left_ ? "|:--" : "|--:");
        out << "|\n";
    }
}

void Table::print_latex(std::ostream& out) const {
    out << "\\begin{tabular}{" << std::string(left_, 'l') << std::string(rows_[0].size() - left_, 'r')
        << "}\n\\hline\n";
    for (std::size_t r = 0; r < rows_.size(); ++r)
        out << joined(rows_[r], " & ", in_tex) << " \\\\\n" << (r == 0 ? "\\hline\n" : "");
    out << "\\hline\n\\end{tabular}\n";
}

void Table::print(std::ostream& out, Format format) const {
    if (format == Format::text) print(out);
    if (format == Format::markdown) print_markdown(out);
    if (format == Format::latex) print_latex(out);
}

std::string csv_line(const std::vector<std::string>& cells) { return joined(cells, ",", in_csv) + '\n'; }

}  // namespace tilescope::text
