// Text of CSV files, whatever wrote them or saved them again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope::device {

/// Converts UTF-8 or UTF-16 (which PowerShell's `>` writes) to UTF-8 without a byte order mark.
std::string in_utf8(std::string_view bytes);

/// The lines without their ends, whatever system wrote them.
std::vector<std::string_view> lines_of(std::string_view text);

/// The cells of a line. A cell in double quotes may hold separators, and quotes that are written twice.
std::vector<std::string> cells_of(std::string_view line, char separator = ',');

/// How one file writes numbers: a decimal point or comma, thousands grouped by the other one, by spaces, by apostrophes
/// or not at all.
class Numbers {
  public:
    /// `separator`: of the file's cells.
    explicit Numbers(char separator) : separator_(separator) {}

    /// Learns from a cell how numbers are written; ignores a cell that is no number. `scaled`: its unit was chosen so
    /// that the number is below 1,000.
    void see(std::string_view cell, bool scaled = false);

    /// nullopt for a cell that is no finite number. Throws UsageError where numbers seen so far disagree or do not tell
    /// a decimal comma from one between thousands.
    std::optional<double> read(std::string_view cell) const;

  private:
    char decimal() const;

    char separator_;
    std::map<char, std::string> shown_;  // by decimal mark: a number that shows that this is the mark
    std::map<char, std::string> open_;   // by mark: a number in which it may also group thousands
    bool ungrouped_ = false;             // a number of more than three digits has no mark between them
};

}  // namespace tilescope::device
