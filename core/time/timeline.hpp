// When which thread block runs on which SM.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/machine/units.hpp"

namespace tilescope {

/// Cycles that a thread block takes on an SM, by the number of residents there: the first is for a block alone.
using BlockCycles = std::vector<double>;

/// The cycles of a kind of thread blocks while so many are left at work: the fewer, the more of L2 and DRAM each has.
using Among = std::function<BlockCycles(std::uint32_t kind, Count at_work)>;

/// A launch's thread blocks in the order in which they start: `sequence` (indices into `kinds`), repeated `times`.
struct Grid {
    std::vector<BlockCycles> kinds;
    std::vector<std::uint32_t> sequence;
    Count times = 1;
    Among among = {};    ///< the cycles once all have started; empty: those of `kinds`
    bool again = false;  ///< asks `among` again whenever a sixteenth has ended, not only at the last start
    Count each = 1;      ///< so many blocks, one after the other, for each entry of the sequence
    std::vector<std::uint32_t> places = {};  ///< one for each block, that takes it beforehand; empty: in turn

    Count blocks() const { return times * each * static_cast<Count>(sequence.size()); }
};

/// Which of the slots that become free at the same instant are filled first: all of one SM, or one of each SM.
enum class Refill : std::uint8_t { packed, spread };

/// Where and when a thread block runs, in cycles.
struct Stay {
    std::uint32_t sm;
    double from, to;
};

/// From `from` on, `at_work` thread blocks share L2 and DRAM.
struct Shared {
    double from;
    Count at_work;
};

struct Timeline {
    double cycles = 0;           ///< until the last thread block has ended
    double resident = 0;         ///< thread blocks resident on an SM, on average over that time and all SMs
    double last_start = 0;       ///< when the last thread block starts
    double after_start = 0;      ///< cycles that slots are occupied after the last start, summed over slots
    std::vector<Stay> stays;     ///< of every thread block, in the order in which they start; where they were asked for
    std::vector<Shared> shared;  ///< in the order of time, the first from the start on
};

/// What is wanted of a timeline: all of it, or all but its stays.
enum class Keep : std::uint8_t { stays, totals };

/// Plays a grid on `sms` SMs of `slots` thread blocks each. The first round goes to the SMs in order, one block each.
/// Each further round has another, fixed order, because devices do not put block b + sms where block b is. Every
/// resident block advances at the rate that the number of residents allows. Once the last block has started, the grid's
/// `among` says what each has of the memory that all share.
///
/// `uneven`: how much the durations of alike blocks differ, as a fraction; with 0, waves stay in step for ever.
Timeline play(const Grid& grid, Index sms, Index slots, Refill refill, double uneven = 0, Keep keep = Keep::stays);

/// The thread blocks dealt out beforehand: each of the places for thread blocks, `slots` on an SM, gets every
/// so-many-th block of the sequence, or those that the grid's `places` say, one after the other, and takes for it what
/// it takes beside full company.
Timeline deal(const Grid& grid, Index sms, Index slots, Keep keep = Keep::stays);

/// The same as play() for `blocks` thread blocks that are alike, wave by wave, without their stays.
Timeline play_alike(const BlockCycles& cycles, Count blocks, Index sms, Index slots, Refill refill,
                    const Among& among = {});

}  // namespace tilescope
