// Runs as rows of exact numbers: what `sweep` writes, and `compare --format csv`.
#pragma once

#include <ostream>

#include "lab/row.hpp"

namespace tilescope::cli {

using lab::RunRow;

/// Writes rows as they come, CSV lines or members of the array in a JSON object, to whoever reads them as they come:
/// where nobody can any more, no further one is computed. docs/outputs.md explains the columns.
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
