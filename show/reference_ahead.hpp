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

    /// All rows of a slice of the output; works, or waits, until they are there.
    const std::vector<double>& slice(Index slice);
    /// To be begun, and pumped where there are no threads.
    Job& job() { return job_; }

  private:
    Index work_out_next_rows();

    const Computation* computation_;
    Problem problem_;
    Inputs inputs_;
    Tiles rows_;                               // of a slice, in the units of the job
    Index next_ = 0;                           // unit, the first slice's first
    std::vector<std::vector<double>> slices_;  // complete as far as the job is done
    Job job_;                                  // last, to end first
};

}  // namespace tilescope::show
