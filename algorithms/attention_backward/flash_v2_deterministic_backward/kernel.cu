// FlashAttention-2's deterministic backward pass on CUDA cores, in fp32: flash_v2_backward's tiles, but a thread block
// takes every S-th key block, one after the other, and adds to a dQ~ of its own. A last launch adds all dQ~ up. Results
// have the same bits in every run.
// Bound by fp32 arithmetic, and by S: with fewer thread blocks than the SMs can hold, expect less than
// flash_v2_backward's speed.
// Run it: tilescope validate flash_v2_deterministic_backward --seq 4096 --heads 16 --dim 64 --dtype f32
#include "algorithms/attention_backward/flash_v2_deterministic_backward/algorithm.hpp"
#include "algorithms/attention_backward/flash_v2_deterministic_backward/kernel.hpp"
#include "algorithms/cuda/gradients.cuh"

namespace tilescope::flash_v2_deterministic_backward {
namespace {

using namespace cuda;

template <int B, int D, int Dv>
__global__ void __launch_bounds__(fp32_threads(B), 1) keys_kernel(BackwardArgs<float> a) {
    extern __shared__ float4 shared[];
    const int part = blockIdx.x, parts = gridDim.x;
    for (int j = part * B; j < a.work.seq_k; j += parts * B)
        key_block_adding_queries<B, D, Dv, true>(a, shared, j, part * a.work.seq_q);
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    const Index S = parts_of(call.tile());
    const BackwardArgs<float> args(call, "dQ~");
    dispatch<kernels>(call, [&]<std::size_t I>() {
        static constexpr KernelVariant v = kernels[I];
        enqueue_row_products<float, v>(call, args.dQ, S);
        enqueue("keys", keys_kernel<v.tile.bc, v.dim, v.dim_v>, grid_of(S, call.problem.kv_slices()), v.threads,
                v.shared(), call.stream, args);
        enqueue_sums<float, v>("add_up", call, S);
    });
}

}  // namespace tilescope::flash_v2_deterministic_backward
