// The double-precision reference of what is recorded, computed a few rows at a time before somebody asks for it.
#pragma once

#include <vector>

#include "lab/run/reference.hpp"
#include "show/run/job.hpp"

namespace tilescope::show {

class ReferenceAhead {
  public:
    /// Begins with slice 0. Copies of `inputs` share their values, which nobody may change.
    ReferenceAhead(const Computation& computation, const Problem& problem, const Inputs& inputs);

    /// A slice of the reference output. Works, or waits, until its first `rows` rows are there.
    const std::vector<double>& slice(Index slice, Index rows);
    /// The caller begins this job and, where there are no threads, pumps it.
    Job& job() { return job_; }

  private:
    Index work_out_next_rows();

    const Computation* computation_;
    Problem problem_;
    Inputs inputs_;
    Tiles rows_;                               // of a slice, in the units of the job
    Index next_ = 0;                           // the next unit; 0: the first slice's first rows
    std::vector<std::vector<double>> slices_;  // of full size; the job has filled as many rows as it is done with
    Job job_;                                  // last, to end first
};

}  // namespace tilescope::show
