// The tile shapes that the kernels are compiled for, and the threads and shared memory of a thread block.
#pragma once

#include <algorithm>

#include "algorithms/attention/split_kv/algorithm.hpp"
#include "algorithms/cuda/kernel.hpp"

namespace tilescope::split_kv {

/// Threads of a thread block that combines up to 8 parts (four times as many combine more parts), and of a thread block
/// of the first launch on tensor cores.
inline constexpr Index combining_threads = 128, tensor_core_threads = 128;

/// CUDA cores: flash_v2's. `threads` is that of the larger launch: for tiles of 16 rows, the first has only one warp.
constexpr KernelVariant cuda_core_variant(Index br, Index bc, Index d, Index dv) {
    KernelVariant v = fp32_variant(br, bc, d, dv);
    v.threads = std::max(v.threads, combining_threads);
    return v;
}

/// Tensor cores: four warps. 16 rows are for decoding. 64 rows are FlashAttention-2's, with its 128 keys at d = 128 and
/// half of its 256 keys at d = 64 (flash_fwd_launch_template.h, run_mha_fwd_splitkv_dispatch). S, P and O are in
/// registers. Where warps merge their parts of O, these lie in the place of K_j and V_j.
constexpr KernelVariant tensor_core_variant(Dtype dtype, Index br, Index bc, Index d) {
    const Bytes tiles = 2 * (br * d + 2 * bc * d), wanted = br <= decoding_tiles.rows ? decoding_tiles.shared : 0;
    return {dtype, {br, bc}, d, d, tensor_core_threads, tiles, std::max<Bytes>(0, wanted - tiles)};
}

inline constexpr KernelVariant kernels[] = {
    cuda_core_variant(64, 64, 32, 32),
    cuda_core_variant(64, 64, 64, 64),
    cuda_core_variant(16, 64, 64, 64),
    cuda_core_variant(64, 64, 128, 128),
    cuda_core_variant(16, 64, 128, 128),
    cuda_core_variant(64, 64, 64, 32),
    cuda_core_variant(64, 64, 64, 128),
    tensor_core_variant(Dtype::f16, 16, 128, 64),
    tensor_core_variant(Dtype::bf16, 16, 128, 64),
    tensor_core_variant(Dtype::f16, 64, 128, 64),
    tensor_core_variant(Dtype::bf16, 64, 128, 64),
    tensor_core_variant(Dtype::f16, 16, 64, 128),
    tensor_core_variant(Dtype::bf16, 16, 64, 128),
    tensor_core_variant(Dtype::f16, 64, 128, 128),
    tensor_core_variant(Dtype::bf16, 64, 128, 128),
};

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);
/// Defined in kernel_tensor_cores.cu: the first launch, in f16 and bf16.
void launch_tensor_cores(const KernelCall& call);
/// Defined in kernel_combine.cu: the second launch.
void launch_combine(const KernelCall& call);

}  // namespace tilescope::split_kv
