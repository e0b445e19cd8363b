// What the stay of a thread block on an SM is made of: its loops, their steps, and what it waits for beside others.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/time/step.hpp"
#include "core/time/timeline.hpp"

namespace tilescope {

/// The turns of a loop that a thread block goes through (or, for -1, what it does once where it has no loops).
struct LoopWork {
    Index loop = -1;
    double turns = 0;   ///< with `masked`
    double masked = 0;  ///< turns that a mask costs besides, where it crosses tiles
    StepTime step;
};

struct Progress;

/// What no step hides, of loads and stores outside of loops: the cycles that every further thread block on an SM adds.
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
    std::vector<Span> at;  ///< where it stands, an axis each; of the first head
    double fixed = 0;      ///< cycles, whoever is beside it
    std::vector<LoopWork> loops;
    Unhidden unhidden = {};

    /// By how many are resident, up to `slots`; `sharing`: see StepTime::together.
    BlockCycles cycles(Index slots, double sharing = 1) const;
    double cycles_beside(Index residents, double sharing) const;
    /// Of these, those outside of loops, of a block that was done in such parts.
    double outside(std::span<const Progress> progress) const;
    /// Of every unit, without what masks cost.
    PerUnit busy() const;
};

/// How much of what SMs shared at first (so many: `sms`) an SM with so many residents still shares, where so many
/// thread blocks are at work on all of them: each has as much as another.
inline double still_shared(double sms, Index residents, Count at_work) {
    return std::min(1.0, static_cast<double>(at_work) / sms / static_cast<double>(residents));
}

/// A part of a thread block, as a share of it, that was done while so many were resident; `sharing`: see
/// StepTime::together.
struct Progress {
    Index residents;
    double sharing, part;
};

/// Of the time that a thread block spends in a loop, in cycles: what it takes alone, and what it waits for where others
/// are beside it, or more than four warps of its own.
struct LoopTime {
    double own = 0;
    double unit = 0;    ///< waits for the unit that all need most: StepTime::waiting_for_unit
    double memory = 0;  ///< waits for L2 or DRAM besides

    double all() const { return own + unit + memory; }
};

/// Where the parts sum to 1, the times of its loops and BlockWork::outside sum to how long the block stays.
LoopTime time_in(const LoopWork& loop, std::span<const Progress> progress);

/// A part of a step of a thread block that is alone, and its cycles: the terms of D.
struct Term {
    Unit unit;
    double cycles;
};
/// Of the units on chip that have something to do in it, in their order; with `waiting` they sum to `alone`.
std::vector<Term> terms_of(const StepTime& step);

/// The stays on one SM in which time passes: between `from` and `to` these are resident, and no other.
struct Company {
    double from, to;
    std::span<const std::size_t> stays;  ///< numbers of the stays
};
/// Goes through the time in which an SM has thread blocks; `on_sm`: the numbers of its stays, in the order in which
/// they start.
void each_company(std::span<const Stay> stays, std::span<const std::size_t> on_sm,
                  const std::function<void(const Company&)>& f);

/// The slot of each of these stays on an SM: the first that is free.
std::vector<std::uint32_t> slots_of(std::span<const Stay> stays, std::span<const std::size_t> on_sm);

}  // namespace tilescope
