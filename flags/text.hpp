// Numbers, names and tables as text.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace tilescope::text {

/// Three significant digits and a decimal unit: "34.6 MB", "812 B".
std::string bytes(double n);
/// On-chip sizes are binary: "88.0 KiB", "512 B".
std::string binary_bytes(Bytes n);
/// Three significant digits and a decimal suffix: "2.15 G", "512".
std::string count(double n);
/// All digits, in groups: "2,147,483,648".
std::string grouped(Count n);
/// Shortest form that reads well: "0.125", "1.9e-05".
std::string number(double x);

std::string join(const std::vector<std::string>& parts, const std::string& separator);
/// At most 400 characters of `text` on one line: control characters become spaces.
std::string one_line(std::string text);
/// `text` between quotes, cut to a readable length and stripped of control characters: safe to print whatever it was.
std::string quoted(const std::string& text);
/// The name with the fewest edits from `wanted`.
std::string nearest(const std::string& wanted, const std::vector<std::string>& names);

/// Columns as wide as their widest cell; the first `left` columns are aligned left, the others right.
class Table {
  public:
    explicit Table(std::vector<std::string> header, std::size_t left = 1);
    void add(std::vector<std::string> row);
    void print(std::ostream& out, const std::string& indent = "") const;

  private:
    std::vector<std::vector<std::string>> rows_;
    std::size_t left_;
};

}  // namespace tilescope::text
