// Runs as rows of exact numbers: what `sweep` writes, and `compare --format csv`.
#pragma once

#include <ostream>
#include <string>

#include "lab/study.hpp"

namespace tilescope::cli {

/// What came of a run, and what it was asked as.
struct RunRow {
    std::string variant;
    std::string model, phase;  ///< empty without --model
    lab::Outcome outcome;
};

/// Writes rows as they come, CSV lines or members of a JSON array, to whoever reads them as they come: where nobody can
/// any more, no further one is computed. docs/outputs.md explains the columns.
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
