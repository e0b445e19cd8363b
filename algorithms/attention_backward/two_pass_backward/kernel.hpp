// What kernel.cu compiles, and what a thread block of it takes.
#pragma once

#include "algorithms/cuda/backward_variants.hpp"

namespace tilescope::two_pass_backward {

inline constexpr auto kernels = of_fp32_backward_shapes(fp32_backward_variant);

/// kernel.cu
void launch_kernel(const KernelCall& call);

}  // namespace tilescope::two_pass_backward
