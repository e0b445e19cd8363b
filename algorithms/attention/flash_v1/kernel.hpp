// What kernel.cu compiles, and what a thread block of it takes.
#pragma once

#include "algorithms/cuda/kernel.hpp"

namespace tilescope::flash_v1 {

/// One thread block per head: the larger tiles, with more warps, first.
inline constexpr KernelVariant kernels[] = {
    fp32_variant(128, 64, 32, 32),   fp32_variant(64, 64, 32, 32),   fp32_variant(64, 128, 32, 32),
    fp32_variant(128, 64, 64, 64),   fp32_variant(64, 64, 64, 64),   fp32_variant(64, 128, 64, 64),
    fp32_variant(128, 64, 128, 128), fp32_variant(64, 64, 128, 128), fp32_variant(64, 64, 64, 32),
    fp32_variant(64, 64, 64, 128),
};

/// kernel.cu
void launch_kernel(const KernelCall& call);

}  // namespace tilescope::flash_v1
