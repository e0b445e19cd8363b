// The tile shapes that kernel.cu is compiled for, and the threads and shared memory of a thread block.
#pragma once

#include "algorithms/cuda/kernel.hpp"

namespace tilescope::flash_v1 {

/// There is only one thread block per head, so that the larger tiles, with more warps, come first.
inline constexpr KernelVariant kernels[] = {
    fp32_variant(128, 64, 32, 32),   fp32_variant(64, 64, 32, 32),   fp32_variant(64, 128, 32, 32),
    fp32_variant(128, 64, 64, 64),   fp32_variant(64, 64, 64, 64),   fp32_variant(64, 128, 64, 64),
    fp32_variant(128, 64, 128, 128), fp32_variant(64, 64, 128, 128), fp32_variant(64, 64, 64, 32),
    fp32_variant(64, 64, 64, 128),
};

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);

}  // namespace tilescope::flash_v1
