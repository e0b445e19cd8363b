// What the stay of a thread block on an SM is made of: its loops, their steps, and its waits for other blocks.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/time/step.hpp"
#include "core/time/timeline.hpp"

namespace tilescope {

/// The iterations of a loop that a thread block goes through. Loop -1: what a block without loops does, once.
struct LoopWork {
    Index loop = -1;
    double turns = 0;   ///< iterations, `masked` included
    double masked = 0;  ///< what a mask costs where it crosses tiles, in iterations
    StepTime step;
};

struct Progress;

/// Loads and stores outside of loops that no step hides: the cycles that each further thread block on an SM adds.
struct Unhidden {
    double memory = 0;  ///< at an SM's share of L2 or DRAM
    double bus = 0;     ///< where no other SM asks

    /// `sharing`: see StepTime::together.
    double beside(Index residents, double sharing) const {
        return static_cast<double>(residents - 1) * std::max(sharing * memory, bus);
    }
};

/// A thread block as the timeline plays it.
struct BlockWork {
    std::vector<Span> at;  ///< its place in the grid, one span for each axis; of the first head
    double fixed = 0;      ///< cycles that do not depend on the blocks beside it
    std::vector<LoopWork> loops;
    Unhidden unhidden = {};

    /// The block's cycles by number of residents, from 1 to `slots`; `sharing`: see StepTime::together.
    BlockCycles cycles(Index slots, double sharing = 1) const;
    double cycles_beside(Index residents, double sharing) const;
    /// The cycles outside of loops, of a block that was carried out in the parts of `progress`.
    double outside(std::span<const Progress> progress) const;
    /// Busy cycles of every unit, without what masks cost.
    PerUnit busy() const;
};

/// The `sharing` of StepTime::together for an SM with so many residents, while `at_work` thread blocks are left on all
/// SMs and each has an equal part of L2 and DRAM. `sms`: how many SMs shared L2 and DRAM at first.
inline double still_shared(double sms, Index residents, Count at_work) {
    return std::min(1.0, static_cast<double>(at_work) / sms / static_cast<double>(residents));
}

/// A part of a thread block, as a fraction of it, that was carried out while so many were resident; `sharing`: see
/// StepTime::together.
struct Progress {
    Index residents;
    double sharing, part;
};

/// The time that a thread block spends in a loop, in cycles: what it takes alone, and its waits for other blocks on the
/// SM, or for more than four warps of its own.
struct LoopTime {
    double own = 0;
    double unit = 0;    ///< waits for the unit that all need most: StepTime::waiting_for_unit
    double memory = 0;  ///< waits for L2 or DRAM besides

    double all() const { return own + unit + memory; }
};

/// If the parts sum to 1, the times of a block's loops and BlockWork::outside sum to the length of its stay.
LoopTime time_in(const LoopWork& loop, std::span<const Progress> progress);

/// A part of a step of a thread block that is alone on an SM, and its cycles: the terms of D (docs/time.md).
struct Term {
    Unit unit;
    double cycles;
};
/// One term for each unit on chip that the step uses, in the order of Unit; with `waiting` they sum to `alone`. None
/// where units work at the same time.
std::vector<Term> terms_of(const StepTime& step);

/// An interval in which the same stays are resident on an SM, and no other. A stay is a thread block's time on an SM.
struct Company {
    double from, to;
    std::span<const std::size_t> stays;  ///< numbers of the stays
};
/// Calls f for each interval in which the same stays are resident on an SM, in order of time; times without any are
/// passed over. `on_sm`: indices into `stays` of this SM's stays, in the order in which they start.
void each_company(std::span<const Stay> stays, std::span<const std::size_t> on_sm,
                  const std::function<void(const Company&)>& f);

/// The slot of each of an SM's stays: the lowest slot that is free when the stay begins.
std::vector<std::uint32_t> slots_of(std::span<const Stay> stays, std::span<const std::size_t> on_sm);

}  // namespace tilescope
