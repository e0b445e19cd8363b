// The double-precision reference of what is recorded, computed a few rows at a time before somebody asks for it.
#pragma once

#include <vector>

#include "lab/run/reference.hpp"
#include "show/run/job.hpp"

namespace tilescope::show {

class ReferenceAhead {
  public:
    /// Starts at slice 0. Shares the values of `inputs`, which nobody may change any more.
    ReferenceAhead(const Computation& computation, const Problem& problem, const Inputs& inputs);

    /// A slice of the reference output. Returns once the first `rows` rows of the slice are computed, here or by the
    /// job's thread.
    const std::vector<double>& slice(Index slice, Index rows);
    /// The caller begins this job and, where there are no threads, pumps it.
    Job& job() { return job_; }

  private:
    Index work_out_next_rows();

    const Computation* computation_;
    Problem problem_;
    Inputs inputs_;
    Tiles rows_;                               // of a slice: the rows that each unit of the job computes
    Index next_ = 0;                           // the next unit; 0: the first slice's first rows
    std::vector<std::vector<double>> slices_;  // of full size, filled as far as the job has come
    Job job_;                                  // last member, so that it is destroyed first
};

}  // namespace tilescope::show
