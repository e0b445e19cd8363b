// What thread blocks of backward passes take of an SM.
#pragma once

#include "algorithms/cuda/kernel.hpp"

namespace tilescope {

/// Q_i and dO_i, K_j and V_j side by side in shared memory, and P, then dS, staged beside them.
constexpr KernelVariant fp32_backward_variant(Index block, Index d, Index dv) {
    return {Dtype::f32, {block, block}, d, dv, fp32_threads(block), 4 * 2 * block * (d + dv), 4 * block * block};
}

}  // namespace tilescope
