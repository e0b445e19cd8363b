// What a launch took, over all of its thread blocks.
#pragma once

#include "core/machine/units.hpp"

namespace tilescope {

struct LaunchInfo {
    const char* kernel;
    Count thread_blocks = 0;
    Bytes sram_peak = 0, register_peak = 0;  ///< the most that one thread block held at a time
};

}  // namespace tilescope
