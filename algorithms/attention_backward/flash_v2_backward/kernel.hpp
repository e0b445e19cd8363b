// What kernel.cu and kernel_tensor_cores.cu compile, and what a thread block of it takes.
#pragma once

#include "algorithms/cuda/backward_variants.hpp"

namespace tilescope::flash_v2_backward {

/// Tensor cores: eight warps, 16 keys each. Beside the tiles: Q_i, dO_i, LSE_i and D_i of the next rows, and dS twice.
constexpr KernelVariant tensor_core_variant(Dtype dtype, Index br, Index bc, Index d) {
    return {dtype, {br, bc}, d, d, 256, 2 * (br + bc) * 2 * d, 2 * br * 2 * d + 2 * 2 * br * bc + 4 * 2 * 2 * br};
}

inline constexpr auto kernels =
    joined(of_fp32_backward_shapes(fp32_backward_variant),
           std::array{tensor_core_variant(Dtype::f16, 64, 128, 64), tensor_core_variant(Dtype::bf16, 64, 128, 64),
                      tensor_core_variant(Dtype::f16, 64, 128, 128), tensor_core_variant(Dtype::bf16, 64, 128, 128)});

/// kernel.cu
void launch_kernel(const KernelCall& call);
/// kernel_tensor_cores.cu: the instances of f16 and bf16
void launch_tensor_cores(const KernelCall& call);

}  // namespace tilescope::flash_v2_backward
