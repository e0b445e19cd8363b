// The tile shapes that kernel.cu and kernel_tensor_cores.cu are compiled for, and the threads and shared memory of a
// thread block.
#pragma once

#include "algorithms/cuda/kernel.hpp"

namespace tilescope::flash_v2 {

/// Tensor cores: the tiles of FlashAttention-2's released kernel (flash_fwd_launch_template.h) and four warps. S, P and
/// O are in registers.
constexpr KernelVariant tensor_core_variant(Dtype dtype, Index br, Index bc, Index d) {
    return {dtype, {br, bc}, d, d, 128, 2 * (br * d + 2 * bc * d), 0, Takes::masks};
}

inline constexpr KernelVariant kernels[] = {
    taking(Takes::scores, fp32_variant(64, 64, 32, 32)),
    fp32_variant(128, 64, 32, 32),
    fp32_variant(64, 32, 32, 32),
    taking(Takes::scores, fp32_variant(64, 64, 64, 64)),
    fp32_variant(128, 64, 64, 64),
    fp32_variant(64, 32, 64, 64),
    taking(Takes::scores, fp32_variant(64, 64, 128, 128)),
    fp32_variant(128, 64, 128, 128),
    fp32_variant(64, 32, 128, 128),
    taking(Takes::scores, fp32_variant(64, 64, 64, 32)),
    taking(Takes::scores, fp32_variant(64, 64, 64, 128)),
    tensor_core_variant(Dtype::f16, 128, 128, 32),
    tensor_core_variant(Dtype::bf16, 128, 128, 32),
    tensor_core_variant(Dtype::f16, 128, 128, 64),
    tensor_core_variant(Dtype::bf16, 128, 128, 64),
    tensor_core_variant(Dtype::f16, 128, 64, 128),
    tensor_core_variant(Dtype::bf16, 128, 64, 128),
};

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);
/// Defined in kernel_tensor_cores.cu, for f16 and bf16.
void launch_tensor_cores(const KernelCall& call);

}  // namespace tilescope::flash_v2
