// How long a step takes: the turn of a loop of one thread block, alone on an SM and with others beside it.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/record/outline.hpp"
#include "core/time/kernel.hpp"
#include "core/time/rates.hpp"

namespace tilescope {

/// Cycles of one step. Alone on an SM a thread block takes `alone`: the phases of a step depend on each other, and only
/// loads go on beside them. Every further one hides behind it but for the unit that both need most: `busiest`. So r of
/// them take alone + (r - 1) busiest for a step of each, at most. What asks a unit that queues lets others work
/// meanwhile: a block is there for q = queued / (alone + (r - 1) busiest) of its time, and while two are there at once
/// neither waits for the other. So they take alone + (r - 1) busiest (1 - q^2). The unit that queues is the limit only
/// where it has no pause left: they take r times `queued` at least.
struct StepTime {
    double alone = 0;
    double busiest = 0;  ///< of four warps
    double queued = 0;   ///< of shared memory, where it queues (StyleConstants), for all warps of the block
    PerUnit busy{};      ///< of every unit of an SM, for all warps of the block
    double waiting = 0;  ///< part of `alone`: barriers, reductions, loads that are waited for
    /// Fours of warps that work: a thread block of 8 is two that share their loads, and r of them are 2 r above; one
    /// whose rows fill one warp of four is a quarter.
    double residents = 1;

    double memory = 0;  ///< of L2 or DRAM, whichever takes longer, for a block's share of them
    double bus = 0;     ///< the same where no other SM asks: what one SM draws at most

    /// What so many wait for each other beyond `alone`, but for L2 and DRAM. Warps are spread over the sub-cores, so
    /// those of blocks that do not fill them do not meet.
    double waiting_for_unit(Index blocks) const {
        const double all = static_cast<double>(blocks), others = std::max(1.0, std::ceil(all * residents)) - 1;
        const double blocked = others * busiest;
        const double queueing = blocked > 0 ? queued / residents / (alone + blocked) : 0;  // share of a block's time
        return std::max(blocked * (1 - queueing * queueing), all * queued - alone);
    }
    /// `sharing`: SMs that still share L2 and DRAM, over those that did at first.
    double together(Index blocks, double sharing = 1) const {
        return std::max(alone + waiting_for_unit(blocks),
                        static_cast<double>(blocks) * std::max(sharing * memory, bus));
    }
    /// Whether so many take more than this multiple of what they would if no other SM asked L2 and DRAM.
    bool waits_for_memory(Index blocks, double times = 1) const {
        return together(blocks) > times * together(blocks, 0);
    }
};

/// What an SM has of L2 and DRAM while all of them ask, in bytes per cycle; what of its bytes L2 lacks, as a share; and
/// how many SMs do ask, as a share of all.
struct MemoryShare {
    double l2, dram_read, dram_write;
    double reads_missed = 1, writes_missed = 1;
    double sharing = 1;
};

/// Rows of all row tiles of a passage that meet the same tile of keys: each has warps of its own, or the same warps one
/// after the other, which takes as long. 0 where no product has rows.
Index rows_at_once(std::span<const Deed> deeds);

/// Of a passage that is gone through again and again, in the steady state: loads begin as early as the places where
/// they go are free (core/time/kernel.hpp).
StepTime step_of(std::span<const Deed> deeds, const Kernel& kernel, const Rates& rates, const MemoryShare& memory,
                 const Cut& cut = {});
/// Of what a thread block does once, outside its loops.
StepTime once(std::span<const Deed> deeds, const Kernel& kernel, const Rates& rates, const MemoryShare& memory,
              const Cut& cut = {});

}  // namespace tilescope
