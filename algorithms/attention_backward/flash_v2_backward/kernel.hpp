// The tile shapes that kernel.cu and kernel_tensor_cores.cu are compiled for, and the threads and shared memory of a
// thread block.
#pragma once

#include "algorithms/cuda/backward_variants.hpp"

namespace tilescope::flash_v2_backward {

/// Tensor cores: eight warps, 16 keys each. Beyond the model, shared memory has Q_i and dO_i of the next rows, LSE_i
/// and D_i of these and the next rows, and dS twice.
constexpr KernelVariant tensor_core_variant(Dtype dtype, Index br, Index bc, Index d) {
    return {dtype, {br, bc}, d, d, 256, 2 * (br + bc) * 2 * d, 2 * br * 2 * d + 2 * 2 * br * bc + 4 * 2 * 2 * br};
}

inline constexpr auto kernels =
    joined(of_fp32_backward_shapes(fp32_backward_variant),
           std::array{tensor_core_variant(Dtype::f16, 64, 128, 64), tensor_core_variant(Dtype::bf16, 64, 128, 64),
                      tensor_core_variant(Dtype::f16, 64, 128, 128), tensor_core_variant(Dtype::bf16, 64, 128, 128)});

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);
/// Defined in kernel_tensor_cores.cu, for f16 and bf16.
void launch_tensor_cores(const KernelCall& call);

}  // namespace tilescope::flash_v2_backward
