// Runs as rows of exact numbers: what `sweep` writes, and `compare --format csv`.
#pragma once

#include <ostream>

#include "lab/study/row.hpp"

namespace tilescope::cli {

using lab::RunRow;

/// Writes each row as soon as it is computed, as a CSV line or as a member of the array in a JSON object. Once a row
/// cannot be written, add() throws, so that no further row is computed. docs/outputs.md explains the columns.
class RowWriter {
  public:
    RowWriter(std::ostream& out, bool json);
    void add(const RunRow& row);
    void finish();

  private:
    std::ostream& out_;
    bool json_, first_ = true;
};

}  // namespace tilescope::cli
