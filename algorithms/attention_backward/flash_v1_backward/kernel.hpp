// What kernel.cu compiles, and what a thread block of it takes.
#pragma once

#include "algorithms/cuda/backward_variants.hpp"

namespace tilescope::flash_v1_backward {

/// dQ_i beside the others. Larger blocks or heads would spill registers.
constexpr KernelVariant variant(Index block, Index d, Index dv) {
    KernelVariant v = fp32_backward_variant(block, d, dv);
    v.tiles += 4 * block * d;
    return v;
}

inline constexpr KernelVariant kernels[] = {
    variant(32, 32, 32),
    variant(32, 64, 64),
};

/// kernel.cu
void launch_kernel(const KernelCall& call);

}  // namespace tilescope::flash_v1_backward
