// The double-precision reference of what is recorded, worked out a few rows at a time before somebody asks.
#pragma once

#include <vector>

#include "lab/reference.hpp"
#include "show/job.hpp"

namespace tilescope::show {

class ReferenceAhead {
  public:
    /// Begins with slice 0. Copies of `inputs` share their values, which nobody may change.
    ReferenceAhead(const Computation& computation, const Problem& problem, const Inputs& inputs);

    /// A slice of the output, of which the first `rows` rows are there; works, or waits, until they are.
    const std::vector<double>& slice(Index slice, Index rows);
    /// To be begun, and pumped where there are no threads.
    Job& job() { return job_; }

  private:
    Index work_out_next_rows();

    const Computation* computation_;
    Problem problem_;
    Inputs inputs_;
    Tiles rows_;                               // of a slice, in the units of the job
    Index next_ = 0;                           // unit, the first slice's first
    std::vector<std::vector<double>> slices_;  // of full size, with as many rows as the job is done with
    Job job_;                                  // last, to end first
};

}  // namespace tilescope::show
