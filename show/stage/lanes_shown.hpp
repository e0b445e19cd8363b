// Which lanes the window shows: those of a run's kernel, or these and three simpler kernels on one axis of cycles.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lab/run/experiment.hpp"
#include "show/stage/lanes.hpp"
#include "show/state/view.hpp"

namespace tilescope::show {

/// Keeps the views that were made last.
class LanesShown {
  public:
    /// `version` changes with the experiment. One view for Lanes::alone; for Lanes::four one warpgroup, two without
    /// turns, two that take turns, and the experiment's own.
    std::span<const LaneView> of(const lab::Experiment& experiment, Lanes which, std::uint64_t version);
    /// "one warpgroup", by view; empty where there is one view.
    const std::vector<std::string>& titles() const { return titles_; }

  private:
    std::vector<LaneView> views_;
    std::vector<std::string> titles_;
    std::uint64_t version_ = 0;
    Lanes which_ = Lanes::hidden;
};

/// The nearest cycle after `cycle`, or before it, where a warpgroup begins something that is shown.
Index next_cycle(std::span<const LaneView> views, Index cycle, int direction);
/// The cycle that a view of the state is about.
Index cycle_of(const View& view, std::span<const LaneView> views);

}  // namespace tilescope::show
