// What kernel.cu compiles, and what a thread block of it takes.
#pragma once

#include "algorithms/cuda/kernel.hpp"

namespace tilescope::softmax_naive {

inline constexpr KernelVariant kernels[] = {
    row_variant(32, 64), row_variant(16, 64), row_variant(64, 64), row_variant(16, 128), row_variant(32, 128),
};

/// kernel.cu
void launch_kernel(const KernelCall& call);

}  // namespace tilescope::softmax_naive
