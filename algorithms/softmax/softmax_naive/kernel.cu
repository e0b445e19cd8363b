// The textbook's softmax on CUDA cores, in fp32: the first rung. A thread block reads its rows twice, once for the sum
// and once for the output, and keeps only the sum.
// Bound by memory: X is read twice and Y written once. Expect most of the bandwidth of the L2 or HBM that holds X.
// Run it: tilescope validate softmax_naive --seq 4096 --heads 16 --dtype f32
#include "algorithms/cuda/softmax_chunks.cuh"
#include "algorithms/softmax/softmax_naive/kernel.hpp"

namespace tilescope::softmax_naive {
namespace {

using namespace cuda;

template <int Br, int Bc>
__global__ void __launch_bounds__(fp32_threads(Br), blocks_per_sm(Br)) softmax_naive_kernel(SoftmaxArgs a) {
    const auto block = a.row_block<Br, Bc>();  // [1]
    if (!warp_has_rows(block.rows)) return;

    float l = 0;                                // [2]
    for (int j = 0; j < block.cols; j += Bc) {  // [2]
        Chunk<Bc> x;
        block.load(x, j);  // [3]
        exp(x, block.size(j));
        l += row_sum(x);
    }
    const float factor = reciprocal(l);

    for (int j = 0; j < block.cols; j += Bc) {  // [4]
        Chunk<Bc> x;
        block.load(x, j);  // [5]
        exp(x, block.size(j));
        x.scale_rows(factor);
        block.store(x, j);
    }
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        enqueue("softmax_naive", softmax_naive_kernel<v.tile.br, v.tile.bc>,
                grid_of(ceil_div(call.problem.seq_q, v.tile.br), call.problem.batch_heads()), v.threads, v.shared(),
                call.stream, SoftmaxArgs(call));
    });
}

}  // namespace tilescope::softmax_naive
