// The tile shapes that kernel.cu is compiled for, and the threads and shared memory of a thread block.
#pragma once

#include "algorithms/cuda/backward_variants.hpp"

namespace tilescope::memory_efficient_backward {

/// Shared memory has room for two tiles of rows, one of keys, and one of P, then dS. The model has at most two of these
/// tiles there at any time.
constexpr KernelVariant fp32_backward_in_turns(Index block, Index d, Index dv) {
    const Index wide = std::max(d, dv);
    const Bytes tiles = 4 * block * std::max(2 * wide, block + wide), all = 4 * block * (3 * wide + block);
    return {Dtype::f32, {block, block}, d, dv, fp32_threads(block), tiles, all - tiles, Takes::plain, true};
}

inline constexpr auto kernels = of_fp32_backward_shapes(fp32_backward_in_turns);

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);

}  // namespace tilescope::memory_efficient_backward
