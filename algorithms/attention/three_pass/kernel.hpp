// The tile shapes that kernel.cu is compiled for, and the threads and shared memory of a thread block.
#pragma once

#include "algorithms/cuda/kernel.hpp"

namespace tilescope::three_pass {

inline constexpr KernelVariant kernels[] = {
    in_turns_variant(64, 64, 32, 32),   in_turns_variant(128, 64, 32, 32),   in_turns_variant(64, 32, 32, 32),
    in_turns_variant(128, 64, 64, 64),  in_turns_variant(64, 64, 64, 64),    in_turns_variant(64, 32, 64, 64),
    in_turns_variant(64, 64, 128, 128), in_turns_variant(128, 64, 128, 128), in_turns_variant(64, 32, 128, 128),
    in_turns_variant(64, 64, 64, 32),   in_turns_variant(64, 64, 64, 128),
};

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);

}  // namespace tilescope::three_pass
