// Columns of text.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace tilescope::text {

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
