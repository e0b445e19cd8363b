// How long a step takes: one iteration of a loop of a thread block, alone on an SM and with others beside it.
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
/// loads run beside them. A further block hides behind it, except on the unit that both need most: `busiest`. So r
/// blocks take at most alone + (r - 1) busiest for a step of each. While a block uses a unit that queues, others can
/// work. A block spends q = queued / (alone + (r - 1) busiest) of its time there, and while two are there, neither
/// waits for the other: r blocks take alone + (r - 1) busiest (1 - q^2). The unit that queues is the limit only when it
/// is busy all the time: r blocks take at least r times `queued`.
struct StepTime {
    double alone = 0;
    double busiest = 0;  ///< cycles of four warps on the unit that they need most
    double queued = 0;   ///< cycles on shared memory, where it queues (StyleConstants), for all warps of the block
    PerUnit busy{};      ///< cycles on every unit of an SM, for all warps of the block
    double waiting = 0;  ///< part of `alone`: barriers, reductions, loads that are waited for
    /// Warps that work, in fours: a thread block of 8 warps counts as two blocks that share their loads, r of them as
    /// 2 r above. A block whose rows fill one warp of four counts as a quarter.
    double residents = 1;

    bool overlapped = false;  ///< units work at the same time, in lanes: `busy` does not sum to `alone`
    double memory = 0;        ///< of L2 or DRAM, whichever takes longer, for a block's share of them
    double bus = 0;           ///< the same where no other SM asks: what one SM draws at most

    /// Cycles that so many blocks wait for each other beyond `alone`, except for L2 and DRAM. Warps are spread over the
    /// sub-cores: blocks too small to fill all sub-cores share them without meeting.
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
    /// Whether so many blocks take more than `times` the cycles that they would take if no other SM used L2 and DRAM.
    bool waits_for_memory(Index blocks, double times = 1) const {
        return together(blocks) > times * together(blocks, 0);
    }
};

/// An SM's part of L2 and DRAM while all SMs ask, in bytes per cycle; which share of its bytes L2 lacks; and how many
/// SMs really ask, as a share of all.
struct MemoryShare {
    double l2, dram_read, dram_write;
    double reads_missed = 1, writes_missed = 1;
    double sharing = 1;
};

/// Rows of all row tiles of a passage that are multiplied by the same tile of keys. Each row tile has its own warps, or
/// the same warps do one after the other, which takes as long. 0 where no product has rows.
Index rows_at_once(std::span<const Deed> deeds);

/// The step of a passage that is repeated, in the steady state: a load begins as soon as its place in shared memory is
/// free (core/time/kernel.hpp).
StepTime step_of(std::span<const Deed> deeds, const Kernel& kernel, const Rates& rates, const MemoryShare& memory,
                 const Cut& cut = {});
/// The time of what a thread block does once, outside its loops.
StepTime once(std::span<const Deed> deeds, const Kernel& kernel, const Rates& rates, const MemoryShare& memory,
              const Cut& cut = {});

}  // namespace tilescope
