// How many thread blocks an SM holds at a time.
#pragma once

#include "core/machine/gpu_spec.hpp"

namespace tilescope {

/// What a thread block takes of an SM.
struct BlockNeeds {
    Bytes shared = 0;
    Index warps = 1;
    Index registers = 0;  ///< of a thread
    Bytes tiles = 0;      ///< bytes of registers that its tiles take at least
};

/// What limits the number of thread blocks on an SM; `asked`: the user wants no more.
enum class ResidencyLimit : std::uint8_t { shared_memory, registers, warps, thread_blocks, asked };

struct Residency {
    Index blocks = 0;  ///< 0: an SM has fewer warps than one block needs
    ResidencyLimit limit = ResidencyLimit::thread_blocks;
};

/// At least 1 where an SM has the warps, because a kernel that runs at all has a block on an SM. Every block also takes
/// the system's shared memory. A warp gets registers in units of 256, out of those of one quarter of the SM.
Residency residency(const BlockNeeds& needs, const GpuSpec& gpu);

}  // namespace tilescope
