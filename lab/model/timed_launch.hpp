// A launch as the time model sees it: its thread blocks, each with the steps of its passages.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/record/outline.hpp"
#include "core/time/kernel.hpp"
#include "core/time/parts.hpp"
#include "core/time/step.hpp"
#include "lab/model/laned.hpp"
#include "lab/model/launch_memory.hpp"

namespace tilescope::lab {

/// The most that rows_at_once() gives for a passage of the thread block.
Index rows_at_once(const BlockOutline& block);

/// A kind of thread block with the steps of its passages.
struct TimedBlock {
    const BlockOutline* outline;
    std::vector<StepTime> steps;           ///< one per passage
    double fixed = 0;                      ///< cycles that do not depend on how many thread blocks share the SM
    Unhidden unhidden = {};                ///< of the first loads, and of loads and stores outside of loops
    double looking = 0;                    ///< cycles that looking up the mask takes, in a tile that the mask crosses
    bool sees = false, sees_full = false;  ///< the block that the outline is of sees inner tiles; full ones
};

/// A launch as the time model sees it.
class TimedLaunch {
  public:
    /// `full`: LaunchKernels::full_rows() of the launch.
    TimedLaunch(const LaunchOutline& outline, const Kernel& kernel, const Rates& rates, Index full)
        : outline_(outline), kernel_(kernel), rates_(rates), full_(full) {}
    /// From now on, take() times the thread blocks by their lanes.
    void by_lanes(LanedTimes lanes) { step_ = lanes.step(), lanes_ = std::move(lanes); }
    const std::optional<LanedTimes>& lanes() const { return lanes_; }

    Index count(std::size_t axis) const { return axis < outline_.axes.size() ? outline_.axes[axis].tiles.count() : 1; }
    Count blocks() const;
    /// The number of thread blocks that read something. Others end at once, for example if their part of keys is empty.
    Count reading() const;
    /// Times the kinds of thread blocks again, with this share of L2 and DRAM.
    void take(const LaunchMemory& memory);
    const std::vector<TimedBlock>& timed_blocks() const { return blocks_; }

    /// Whether all thread blocks take equally long.
    bool all_alike() const;
    /// Whether thread blocks would take less time if fewer SMs shared the memory.
    bool waits_for_memory(Index slots) const;
    /// Whether some thread blocks see more tiles of the inner loop than others, by their position in the grid.
    bool graded() const;
    /// Whether thread blocks take about equally long, so that they run wave after wave. Where some are short, or have
    /// nothing to do, blocks of the last wave begin while earlier ones still share the memory.
    bool in_waves() const;
    BlockCycles cycles_of_first(Index slots) const { return first().cycles(slots); }
    /// The work of thread block number `block` of a head; where all are alike, of any.
    BlockWork work(std::uint32_t block) const;
    /// The cycles of every thread block of a head, in order; works() has their work.
    std::vector<BlockCycles> cycles(Index slots) const;
    std::vector<BlockWork> works() const;

    /// The cycles of all thread blocks together, where every SM holds `slots` of them.
    double sum_of_cycles(Index slots) const;

  private:
    Cut cut_of(const BlockOutline& b) const;

    BlockWork first() const { return work_of(blocks_[0], place_of(blocks_[0].outline->at)); }
    /// A place in the grid, and the inner tiles that a thread block sees there.
    struct Place {
        std::vector<Span> at;
        std::optional<Tiles> seen;
    };
    Place place_of(std::vector<Span> at) const;
    /// Calls f(kind, place) for every thread block of a head, in order.
    template <class F>
    void each_block(F&& f) const;
    /// The kind of thread block at a place: equal tile sizes on all axes and, if there is one, equal loops.
    const TimedBlock& alike(const Place& place) const;

    BlockWork work_of(const TimedBlock& block, const Place& place) const;
    BlockCycles cycles_of(const TimedBlock& block, const Place& place, Index slots) const;
    struct Visits {
        double full = 0, ragged = 0, crossed = 0;
    };
    Visits visits(const Place& place) const;
    TimedBlock timed_by_lanes(const BlockOutline& block) const;
    /// The loop of a block with lanes, and the cycles beside it; no loop: nullptr.
    struct Laned {
        const Passage* loop;
        double fixed, turns, masked;
    };
    Laned by_lanes(const TimedBlock& block, const Place& place) const;

    const LaunchOutline& outline_;
    Kernel kernel_;
    const Rates& rates_;
    Index full_;
    std::optional<LanedTimes> lanes_;
    StepTime step_;  // of lanes
    std::vector<TimedBlock> blocks_;
    mutable std::ptrdiff_t found_ = 0;  // index in blocks_ of the kind that alike() found last
};

}  // namespace tilescope::lab
