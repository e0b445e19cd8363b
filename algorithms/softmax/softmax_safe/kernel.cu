// Safe softmax on CUDA cores, in fp32. New against softmax_naive: a pass before the others finds each row's maximum, so
// that no exponential overflows.
// Bound by memory: X is read three times and Y written once. Expect most of the bandwidth of the L2 or HBM that holds
// X.
// Run it: tilescope validate softmax_safe --seq 4096 --heads 16 --dtype f32
#include "algorithms/cuda/softmax_chunks.cuh"
#include "algorithms/softmax/softmax_safe/kernel.hpp"

namespace tilescope::softmax_safe {
namespace {

using namespace cuda;

template <int Br, int Bc>
__global__ void __launch_bounds__(fp32_threads(Br), blocks_per_sm(Br)) softmax_safe_kernel(SoftmaxArgs a) {
    const auto block = a.row_block<Br, Bc>();  // [1]
    if (!warp_has_rows(block.rows)) return;

    float m = -infinity;                        // [2]
    for (int j = 0; j < block.cols; j += Bc) {  // [2]
        Chunk<Bc> x;
        block.load(x, j);  // [3]
        m = fmaxf(m, row_max(x));
    }

    float l = 0;                                // [4]
    for (int j = 0; j < block.cols; j += Bc) {  // [4]
        Chunk<Bc> x;
        block.load(x, j);  // [5]
        exp_minus(x, m, block.size(j));
        l += row_sum(x);
    }
    const float factor = reciprocal(l);

    for (int j = 0; j < block.cols; j += Bc) {  // [6]
        Chunk<Bc> x;
        block.load(x, j);  // [7]
        exp_minus(x, m, block.size(j));
        x.scale_rows(factor);
        block.store(x, j);
    }
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        enqueue("softmax_safe", softmax_safe_kernel<v.tile.br, v.tile.bc>,
                grid_of(ceil_div(call.problem.seq_q, v.tile.br), call.problem.batch_heads()), v.threads, v.shared(),
                call.stream, SoftmaxArgs(call));
    });
}

}  // namespace tilescope::softmax_safe
