// What of a launch its time is made of: its thread blocks, each with the steps of its passages.
#pragma once

#include <cstddef>
#include <vector>

#include "core/record/outline.hpp"
#include "core/time/kernel.hpp"
#include "core/time/parts.hpp"
#include "core/time/step.hpp"

namespace tilescope::lab {

/// rows_at_once() of the passage of a thread block that has most.
Index rows_at_once(const BlockOutline& block);

/// What a thread block of a launch has of L2 and DRAM.
struct LaunchMemory : MemoryShare {
    double first_missed = 0;  ///< of what is read for the first time in a launch, the share that L2 lacks
};

/// A kind of thread block with the steps of its passages.
struct TimedBlock {
    const BlockOutline* outline;
    std::vector<StepTime> steps;  ///< one a passage
    double fixed = 0;             ///< cycles, whoever is beside it
    Unhidden unhidden = {};       ///< of loads and stores outside of its loops
    double looking = 0;           ///< cycles in which a mask is looked up, for a tile that it crosses
};

/// What of a launch its time is made of.
class TimedLaunch {
  public:
    /// `full`: rows of a full thread block's tile of the grid, or, where that has none, of a loop's.
    TimedLaunch(const LaunchOutline& outline, const Kernel& kernel, const Rates& rates, Index full)
        : outline_(outline), kernel_(kernel), rates_(rates), full_(full) {}

    Index count(std::size_t axis) const { return axis < outline_.axes.size() ? outline_.axes[axis].tiles.count() : 1; }
    Count blocks() const;
    /// Those that read something. Others end as they begin: parts of the keys may have none.
    Count reading() const;
    /// Times its kinds of thread blocks anew, with so much of L2 and DRAM.
    void take(const LaunchMemory& memory);
    const std::vector<TimedBlock>& timed_blocks() const { return blocks_; }

    /// Whether all thread blocks take equally long.
    bool all_alike() const;
    /// Whether thread blocks would take less time if fewer SMs shared the memory.
    bool waits_for_memory(Index slots) const;
    /// Whether thread blocks see more or less by where they stand.
    bool graded() const;
    /// Whether thread blocks take about equally long, so that their waves are rounds. Some that are short, or have
    /// nothing to do, would let those of the last wave begin while others still share the memory.
    bool in_waves() const;
    BlockCycles cycles_of_first(Index slots) const { return first().cycles(slots); }
    /// Of a thread block of a head, by its number there; where all are alike, of any.
    BlockWork work(std::uint32_t block) const;
    /// Of every thread block of a head.
    std::vector<BlockCycles> cycles(Index slots) const;
    std::vector<BlockWork> works() const;

    /// All of them together, where `slots` are on every SM.
    double sum_of_cycles(Index slots) const;

  private:
    Cut cut_of(const BlockOutline& b) const;

    BlockWork first() const { return work_of(blocks_[0], std::vector<Span>(blocks_[0].outline->at)); }
    template <class F>
    void each_work(F&& f) const;
    /// The kind of a block: alike on every axis, and with turns of the same loops, as far as there is one.
    const TimedBlock& alike(const std::vector<Span>& at) const;

    BlockWork work_of(const TimedBlock& block, const std::vector<Span>& at) const;

    const LaunchOutline& outline_;
    Kernel kernel_;
    const Rates& rates_;
    Index full_;
    std::vector<TimedBlock> blocks_;
    mutable std::ptrdiff_t found_ = 0;  // of the blocks
};

}  // namespace tilescope::lab
