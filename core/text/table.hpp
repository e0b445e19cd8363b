// Columns of text, for a terminal or for a document.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope::text {

/// Titles of columns: the messages of the ids. An empty id stands for an empty title.
std::vector<std::string> titles(const std::vector<std::string_view>& ids);

/// What a table is written for.
enum class Format { text, markdown, latex };

/// Columns as wide as their widest cell; the first `left` columns are aligned left, the others right. Text is at most
/// line_width wide. To fit, headers are broken between words, then the cells of the widest left column. Columns that
/// still do not fit follow below, after the left columns again.
class Table {
  public:
    explicit Table(std::vector<std::string> header, std::size_t left = 1);
    void add(std::vector<std::string> row);
    /// Keeps `columns` columns, from `first` on, beside each other where a line has room for them.
    void keep_together(std::size_t first, std::size_t columns);
    void print(std::ostream& out, const std::string& indent = "") const;
    /// The same cells as a table of Markdown or LaTeX (a plain tabular), never split.
    void print(std::ostream& out, Format format) const;

  private:
    using Sizes = std::vector<std::size_t>;
    template <class Header, class Cell>
    Sizes widest(Header&& of_header, Cell&& of_cell) const;
    Sizes widths(std::size_t room) const;
    void print_row(std::ostream& out, const std::string& indent, std::size_t row, const Sizes& columns,
                   const Sizes& widths) const;
    void print_markdown(std::ostream& out) const;
    void print_latex(std::ostream& out) const;

    std::vector<std::vector<std::string>> rows_;  // the header first
    std::size_t left_;
    std::vector<bool> stays_;  // by column: it stays beside the one before it
};

/// Cells as a line of CSV (RFC 4180), quoted where they have to be.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace tilescope::text
