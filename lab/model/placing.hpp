// The order in which the thread blocks of an experiment start.
#pragma once

#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// The order that was asked for; where none was (Order::kernel), that of the kernel's description, if it has one.
Order order_of(const Experiment& experiment);
/// How many heads' K and V the L2 has room for, as a power of two: FlashAttention-3's rule for Order::longest_in_l2
/// (hopper/tile_scheduler.hpp at 0251105a), which counts with 32 MiB.
Index heads_in_l2(const Experiment& experiment);

}  // namespace tilescope::lab
