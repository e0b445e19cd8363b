// When which thread block runs on which SM.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/machine/units.hpp"

namespace tilescope {

/// Cycles that a thread block takes on an SM, by how many are resident there: the first number is for it alone.
using BlockCycles = std::vector<double>;

/// A launch's thread blocks in the order in which they start: `sequence` again and again, of numbers of `kinds`.
struct Grid {
    std::vector<BlockCycles> kinds;
    std::vector<std::uint32_t> sequence;
    Count times = 1;

    Count blocks() const { return times * static_cast<Count>(sequence.size()); }
};

/// Of slots that become free at the same instant: all of an SM first, or one of each SM.
enum class Refill : std::uint8_t { packed, spread };

/// Where and when a thread block runs, in cycles.
struct Stay {
    std::uint32_t sm;
    double from, to;
};

struct Timeline {
    double cycles = 0;        ///< until the last thread block has ended
    double resident = 0;      ///< thread blocks resident on an SM, on average over that time and all SMs
    double last_start = 0;    ///< when the last thread block starts
    double after_start = 0;   ///< cycles that slots are taken after that, all together
    std::vector<Stay> stays;  ///< of every thread block, in the order in which they start
};

/// Plays a grid on `sms` SMs of `slots` thread blocks each. The first round goes to the SMs in order, one block each;
/// further rounds in another, fixed order each, as devices do not put block b + sms where block b is. Every resident
/// block advances at the rate that the number of residents allows.
///
/// `uneven`: how far apart the speeds of alike blocks are, as a share; without it waves stay in step for ever.
Timeline play(const Grid& grid, Index sms, Index slots, Refill refill, double uneven = 0);

/// Of thread blocks that are alike: those of the last wave, where others came before. It may leave slots free.
Count last_wave(Count blocks, Index sms, Index slots);
/// How many of a wave are on an SM that has most of them. The first wave gives every SM one, then another one.
Index most_on_an_sm(Count wave, bool first, Index sms, Index slots, Refill refill);

/// The same of so many thread blocks that are alike, wave by wave, without their stays; `last` of those of the last
/// wave, where others came before.
Timeline play_alike(const BlockCycles& cycles, const BlockCycles& last, Count blocks, Index sms, Index slots,
                    Refill refill);

}  // namespace tilescope
