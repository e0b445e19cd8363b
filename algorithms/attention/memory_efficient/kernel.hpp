// The tile shapes that kernel.cu is compiled for, and the threads and shared memory of a thread block.
#pragma once

#include <algorithm>

#include "algorithms/cuda/kernel.hpp"

namespace tilescope::memory_efficient {

/// One buffer in shared memory: Q_i and K_j for the first product, P and V_j for the second. Beside it m' and s'.
constexpr KernelVariant variant(Index br, Index bc, Index d, Index dv) {
    KernelVariant v = fp32_variant(br, bc, d, dv);
    v.tiles = 4 * (std::max(br * d + bc * d, br * bc + bc * dv) + 2 * br);
    v.staging = 0;
    v.takes = br == 64 && bc == 64 ? Takes::scores : Takes::plain;  // scores: one instance per head dimension
    return v;
}

inline constexpr KernelVariant kernels[] = {
    variant(64, 64, 32, 32),   variant(128, 64, 32, 32), variant(64, 32, 32, 32),   variant(128, 64, 64, 64),
    variant(64, 64, 64, 64),   variant(64, 32, 64, 64),  variant(64, 64, 128, 128), variant(128, 64, 128, 128),
    variant(64, 32, 128, 128), variant(64, 64, 64, 32),  variant(64, 64, 64, 128),
};

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);

}  // namespace tilescope::memory_efficient
