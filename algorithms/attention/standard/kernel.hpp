// The tile shapes that kernel.cu is compiled for, and the threads and shared memory of a thread block.
#pragma once

#include <algorithm>

#include "algorithms/cuda/kernel.hpp"

namespace tilescope::standard {

/// Shared memory of launch 1 for Q_i and K_j, and of launch 3 for P_ij and V_j. Launch 2 keeps its rows in registers.
constexpr Bytes scores_tiles(Index br, Index bc, Index d) { return 4 * (br * d + bc * d); }
constexpr Bytes output_tiles(Index br, Index bc, Index dv) { return 4 * (br * bc + bc * dv); }
constexpr KernelVariant variant(Index br, Index bc, Index d, Index dv) {
    return {Dtype::f32, {br, bc}, d, dv, fp32_threads(br), std::max(scores_tiles(br, bc, d), output_tiles(br, bc, dv)),
            0};
}
inline constexpr KernelVariant kernels[] = {
    variant(64, 64, 32, 32),   variant(128, 64, 32, 32), variant(64, 32, 32, 32),   variant(128, 64, 64, 64),
    variant(64, 64, 64, 64),   variant(64, 32, 64, 64),  variant(64, 64, 128, 128), variant(128, 64, 128, 128),
    variant(64, 32, 128, 128), variant(64, 64, 64, 32),  variant(64, 64, 64, 128),
};

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);

}  // namespace tilescope::standard
