// The half-precision instances of the kernel; see kernel_tensor_cores.cu.
#pragma once

#include "algorithms/kernel.hpp"

namespace tilescope::flash_v2 {
void launch_tensor_cores(const KernelCall& call);
}
