// The tile shapes that kernel.cu is compiled for, and the threads and shared memory of a thread block.
#pragma once

#include "algorithms/cuda/backward_variants.hpp"

namespace tilescope::flash_v2_deterministic_backward {

inline constexpr auto kernels = of_fp32_backward_shapes(fp32_backward_variant);

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);

}  // namespace tilescope::flash_v2_deterministic_backward
