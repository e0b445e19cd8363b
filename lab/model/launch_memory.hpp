// An SM's share of L2 and DRAM during a launch, and what misses in the L2.
#pragma once

#include "core/time/rates.hpp"
#include "core/time/step.hpp"
#include "lab/model/dram.hpp"

namespace tilescope::lab {

struct LaunchMemory : MemoryShare {
    double first_missed = 0;  ///< of the bytes that a launch reads for the first time, the share that misses in L2
};

/// How many SMs share L2 and DRAM at first: their bandwidth over the part of it that one SM gets. On tensor cores, if
/// all thread blocks are resident at once, each block gets an equal part. The number is then that of an SM with the
/// most blocks, because the launch ends when such an SM ends. In all other cases each SM that has a block gets an equal
/// part. The constants of CUDA cores were fitted with such parts.
double sharing_at_first(Count blocks, Index slots, Index sms, Style style);
/// An SM's share of L2 and DRAM where `sharing` SMs share them and nothing misses in the L2.
LaunchMemory memory_of(double sharing, Index sms, const Rates& rates, double clock_mhz, Style style);
/// Sets the shares of a launch's bytes that miss in the L2; `sent`: its traffic between the SMs and the L2.
void set_misses(LaunchMemory& memory, const DramModel::Traffic& traffic, const Counters& sent);

}  // namespace tilescope::lab
