// Text of CSV files, whatever wrote them or saved them again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope::device {

/// As UTF-8 and without a byte order mark, of UTF-8 or UTF-16: PowerShell's `>` writes that.
std::string in_utf8(std::string_view bytes);

/// Without their ends, as any system writes them.
std::vector<std::string_view> lines_of(std::string_view text);

/// What lies between separators. A cell in double quotes may hold one, and a quote if that is there twice.
std::vector<std::string> cells_of(std::string_view line, char separator = ',');

/// How one file writes numbers: a decimal point or comma, thousands grouped by the other one, by spaces, by apostrophes
/// or not at all.
class Numbers {
  public:
    /// `separator`: of the file's cells.
    explicit Numbers(char separator) : separator_(separator) {}

    /// Takes note of how a number is written. What is no number shows nothing. `scaled`: its unit was chosen so that it
    /// is below 1,000.
    void see(std::string_view cell, bool scaled = false);

    /// nullopt for what is no finite number. UsageError where the numbers that were seen do not agree, or do not tell a
    /// decimal comma from one between thousands.
    std::optional<double> read(std::string_view cell) const;

  private:
    char decimal() const;

    char separator_;
    std::map<char, std::string> shown_;  // by decimal mark: a number that shows it
    std::map<char, std::string> open_;   // by mark: a number that has it before three digits, which may be either
    bool ungrouped_ = false;             // a number of more than three digits has no mark between them
};

}  // namespace tilescope::device
