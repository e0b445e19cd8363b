// FlashAttention-2's backward pass on CUDA cores, in fp32. Key blocks add to dQ itself, so that there are two launches.
// Bound by fp32 arithmetic.
// Run it: tilescope validate flash_v2_backward --seq 4096 --heads 16 --dim 64 --dtype f32
#include "algorithms/attention_backward/flash_v2_backward/kernel.hpp"
#include "algorithms/cuda/gradients.cuh"

namespace tilescope::flash_v2_backward {
namespace {

using namespace cuda;

template <int B, int D, int Dv>
__global__ void __launch_bounds__(fp32_threads(B), 1) keys_kernel(BackwardArgs<float> a) {
    extern __shared__ float4 shared[];
    key_block_adding_queries<B, D, Dv>(a, shared, blockIdx.x * B);
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    if (call.variant->dtype != Dtype::f32) return launch_tensor_cores(call);
    const BackwardArgs<float> args(call);
    dispatch<kernels>(call, [&]<std::size_t I>() {
        static constexpr KernelVariant v = kernels[I];
        if constexpr (v.dtype == Dtype::f32) {
            enqueue_row_products<float, v>(call, args.dQ);
            enqueue("keys", keys_kernel<v.tile.bc, v.dim, v.dim_v>,
                    grid_of(ceil_div(call.problem.seq_k, v.tile.bc), call.problem.kv_slices()), v.threads, v.shared(),
                    call.stream, args);
        }
    });
}

}  // namespace tilescope::flash_v2_backward
