// A launch as it was played: when each thread block is on which SM, and what its work is.
#pragma once

#include <cstddef>
#include <vector>

#include "core/machine/grid.hpp"
#include "core/time/dispatch.hpp"
#include "core/time/parts.hpp"
#include "core/time/timeline.hpp"

namespace tilescope::lab {

struct PlayedLaunch {
    std::vector<Axis> axes;
    std::vector<BlockOfHead> order;  ///< in which they start
    std::vector<BlockWork> works;    ///< of a head's thread blocks
    Timeline timeline;               ///< without stays where there are too many thread blocks to play
    double launch_us = 0;            ///< of the launch itself, before its first thread block starts
    double sharing = 1;              ///< SMs that share L2 and DRAM at first

    const BlockWork& work(std::size_t stay) const { return works[order[stay].block]; }
};

}  // namespace tilescope::lab
