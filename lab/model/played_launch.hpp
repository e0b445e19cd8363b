// A launch as it was played: each thread block's SM, its time there, and its work.
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
    std::vector<BlockOfHead> order;  ///< thread blocks as they start: stay k is of order[k]
    std::vector<BlockWork> works;    ///< of a head's thread blocks
    Timeline timeline;               ///< without stays where there are too many thread blocks to play
    double launch_us = 0;            ///< microseconds of launching, before the first thread block starts
    double sharing = 1;              ///< SMs that share L2 and DRAM at first

    const BlockWork& work(std::size_t stay) const { return works[order[stay].block]; }
};

}  // namespace tilescope::lab
