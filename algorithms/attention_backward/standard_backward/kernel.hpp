// The tile shapes that kernel.cu is compiled for, and the threads and shared memory of a thread block.
#pragma once

#include <algorithm>

#include "algorithms/cuda/kernel.hpp"

namespace tilescope::standard_backward {

/// Shared memory of launches 1, 4 and 5 for a tile of P or dS and the tile that it multiplies, and of launch 2 for dO_i
/// and V_j. Launch 3 keeps its rows in registers.
constexpr Bytes weighted_tiles(Index block, Index cols) { return 4 * (block * block + block * cols); }
constexpr Bytes scores_tiles(Index block, Index dv) { return 4 * 2 * block * dv; }
constexpr KernelVariant variant(Index block, Index d, Index dv) {
    return {Dtype::f32, {block, block},      d,
            dv,         fp32_threads(block), std::max(weighted_tiles(block, std::max(d, dv)), scores_tiles(block, dv)),
            0};
}
inline constexpr KernelVariant kernels[] = {
    variant(64, 32, 32),   variant(32, 32, 32), variant(64, 64, 64),  variant(32, 64, 64),
    variant(64, 128, 128), variant(64, 64, 32), variant(64, 64, 128),
};

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);

}  // namespace tilescope::standard_backward
