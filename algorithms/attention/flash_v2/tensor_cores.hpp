// The half-precision instances of the kernel; see kernel_tensor_cores.cu.
#pragma once

#include "algorithms/cuda/kernel.hpp"

namespace tilescope::flash_v2 {
void launch_tensor_cores(const KernelCall& call);
}
