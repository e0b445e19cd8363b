// An SM's share of L2 and DRAM during a launch, and what misses in the L2.
#pragma once

#include "core/time/rates.hpp"
#include "core/time/step.hpp"
#include "lab/model/dram.hpp"

namespace tilescope::lab {

struct LaunchMemory : MemoryShare {
    double first_missed = 0;  ///< of the bytes that a launch reads for the first time, the share that misses in L2
};

/// How many SMs share L2 and DRAM at first. On tensor cores, where all thread blocks run at once, each block has an
/// equal part: SMs with the most blocks have more than an SM's share, and the launch ends when they end.
/// The constants of CUDA cores were fitted with equal shares of SMs.
double sharing_at_first(Count blocks, Index slots, Index sms, Style style);
/// An SM's share where so many SMs share L2 and DRAM, and nothing misses in the L2.
LaunchMemory memory_of(double sharing, Index sms, const Rates& rates, double clock_mhz, Style style);
/// Sets the shares of a launch's bytes that miss in the L2; `sent`: its traffic between the SMs and the L2.
void set_misses(LaunchMemory& memory, const DramModel::Traffic& traffic, const Counters& sent);

}  // namespace tilescope::lab
