// What kernel.cu compiles, and what a thread block of it takes.
#pragma once

#include "algorithms/cuda/backward_variants.hpp"

namespace tilescope::memory_efficient_backward {

/// Two tiles of rows and one of keys in shared memory, whatever they hold, and P, then dS, beside them. At any time
/// the model has no more there than two of these.
constexpr KernelVariant fp32_backward_in_turns(Index block, Index d, Index dv) {
    const Index wide = std::max(d, dv);
    const Bytes tiles = 4 * block * std::max(2 * wide, block + wide), all = 4 * block * (3 * wide + block);
    return {Dtype::f32, {block, block}, d, dv, fp32_threads(block), tiles, all - tiles, Takes::plain, true};
}

inline constexpr auto kernels = of_fp32_backward_shapes(fp32_backward_in_turns);

/// kernel.cu
void launch_kernel(const KernelCall& call);

}  // namespace tilescope::memory_efficient_backward
