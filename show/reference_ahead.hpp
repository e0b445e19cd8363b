// The double-precision reference of what is recorded, worked out by a thread of its own before somebody asks.
#pragma once

#include <future>
#include <thread>
#include <vector>

#include "lab/reference.hpp"

namespace tilescope::show {

class ReferenceAhead {
  public:
    /// Begins with slice 0. Copies of `inputs` share their values, which nobody may change.
    ReferenceAhead(Family family, const Problem& problem, const Inputs& inputs);
    /// Gives up what is not done.
    ~ReferenceAhead() { thread_.request_stop(); }
    ReferenceAhead(const ReferenceAhead&) = delete;
    ReferenceAhead& operator=(const ReferenceAhead&) = delete;

    /// All rows of a slice of the output; waits until they are there.
    const std::vector<double>& slice(Index slice) const { return ready_[static_cast<std::size_t>(slice)].get(); }

  private:
    std::vector<std::shared_future<std::vector<double>>> ready_;
    std::jthread thread_;  // last, to end first
};

}  // namespace tilescope::show
