// The tile shapes that kernel.cu is compiled for, and the threads and shared memory of a thread block.
#pragma once

#include "algorithms/cuda/backward_variants.hpp"

namespace tilescope::flash_v1_backward {

/// dQ_i lies in shared memory, too. With larger blocks or head dimensions, registers would spill.
constexpr KernelVariant variant(Index block, Index d, Index dv) {
    KernelVariant v = fp32_backward_variant(block, d, dv);
    v.tiles += 4 * block * d;
    return v;
}

inline constexpr KernelVariant kernels[] = {
    variant(32, 32, 32),
    variant(32, 64, 64),
};

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);

}  // namespace tilescope::flash_v1_backward
