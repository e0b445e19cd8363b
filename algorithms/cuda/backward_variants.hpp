// What a thread block of a backward pass takes of an SM, and the shapes that its fp32 kernels are compiled for.
#pragma once

#include <algorithm>
#include <array>

#include "algorithms/cuda/kernel.hpp"

namespace tilescope {

/// A thread block has Q_i, dO_i, K_j and V_j side by side in shared memory, and stages P, then dS, beside them.
constexpr KernelVariant fp32_backward_variant(Index block, Index d, Index dv) {
    return {Dtype::f32, {block, block}, d, dv, fp32_threads(block), 4 * 2 * block * (d + dv), 4 * block * block};
}

/// variant(block, d, dv) of every shape: the default of each head dimension first.
constexpr std::array<KernelVariant, 7> of_fp32_backward_shapes(KernelVariant (*variant)(Index, Index, Index)) {
    return {variant(64, 32, 32),   variant(32, 32, 32), variant(64, 64, 64), variant(32, 64, 64),
            variant(32, 128, 128), variant(64, 64, 32), variant(32, 64, 128)};
}

template <std::size_t N, std::size_t M>
constexpr std::array<KernelVariant, N + M> joined(const std::array<KernelVariant, N>& a,
                                                  const std::array<KernelVariant, M>& b) {
    std::array<KernelVariant, N + M> all{};
    std::copy(b.begin(), b.end(), std::copy(a.begin(), a.end(), all.begin()));
    return all;
}

}  // namespace tilescope
