// The recorded thread blocks side by side: which SM runs which, and what happens at the same time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "core/record/trace.hpp"
#include "core/time/timeline.hpp"

namespace tilescope {

/// A thread block's place on the machine, in ticks.
struct Placement {
    Index launch, block, sm;
    Index first_tick, last_tick;  ///< the block runs in ticks [first_tick, last_tick)
};

/// A recording keeps thread blocks one after the other; a machine runs as many at a time as it has SMs. This puts the
/// blocks next to each other. Every SM has one block at a time, in the order of their modelled stays. Where stays are
/// not known, an SM that is done takes the next block of the grid. A launch begins when the one before has ended. In a
/// tick every busy SM carries out one turn: an operation, with the tiles that are made for it and those that are given
/// back before it.
class Schedule {
  public:
    /// Where and when a thread block of a launch stays; nullopt where that is not known.
    using Stays = std::function<std::optional<Stay>(Index launch, Index block)>;

    Schedule(Trace recording, Index sms, const Stays& stays = {});

    /// The recording in the order of the ticks, SM by SM within a tick. Blocks of a launch do not depend on each other,
    /// so this is an order in which the same program could have run. Moving the schedule does not move this object.
    const Trace& trace() const { return *trace_; }
    Index ticks() const { return static_cast<Index>(ends_.size()) - 1; }
    /// The steps that the first `tick` ticks carry out: where to seek a Player.
    Index steps_after(Index tick) const { return ends_[static_cast<std::size_t>(tick)]; }
    /// The tick, from 1 on, that carries out this step (from 0 on).
    Index tick_of(Index step) const;
    /// By launch, then by block.
    const std::vector<Placement>& placements() const { return placements_; }
    /// The placements of a launch; none where the launch is not recorded.
    std::span<const Placement> placements_of(Index launch) const;
    /// Where a thread block runs; nullptr: nowhere in the recording.
    const Placement* placement_of(Index launch, Index block) const;
    /// What an SM was busy with in tick `tick` (from 1 on); nullptr: nothing recorded.
    const Placement* at(Index sm, Index tick) const;
    /// How many SMs ever have a recorded thread block: SMs 0 .. n-1.
    Index sms_used() const { return static_cast<Index>(by_sm_.size()); }

  private:
    std::unique_ptr<const Trace> trace_;
    std::vector<Index> ends_;  // steps carried out after so many ticks; ends_[0] is 0
    std::vector<Placement> placements_;
    std::vector<std::vector<std::size_t>> by_sm_;  // indices into placements_, in order of time
};

}  // namespace tilescope
