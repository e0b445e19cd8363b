// What kernel.cu compiles, and what a thread block of it takes.
#pragma once

#include "algorithms/cuda/backward_variants.hpp"

namespace tilescope::flash_v2_deterministic_backward {

inline constexpr KernelVariant kernels[] = {
    fp32_backward_variant(64, 32, 32),  fp32_backward_variant(32, 32, 32),   fp32_backward_variant(64, 64, 64),
    fp32_backward_variant(32, 64, 64),  fp32_backward_variant(32, 128, 128), fp32_backward_variant(64, 64, 32),
    fp32_backward_variant(32, 64, 128),
};

/// kernel.cu
void launch_kernel(const KernelCall& call);

}  // namespace tilescope::flash_v2_deterministic_backward
