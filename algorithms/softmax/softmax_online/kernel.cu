// Online softmax on CUDA cores, in fp32. New against softmax_safe: the maximum and the sum come out of one pass,
// because the sum is corrected whenever the maximum grows. Lane x corrects row x % 8 of its group: one instruction
// serves a warp's 16 rows.
// Bound by memory: expect softmax_naive's time, because both read X twice.
// Run it: tilescope validate softmax_online --seq 4096 --heads 16 --dtype f32
#include "algorithms/cuda/softmax_chunks.cuh"
#include "algorithms/softmax/softmax_online/kernel.hpp"

namespace tilescope::softmax_online {
namespace {

using namespace cuda;

template <int Br, int Bc>
__global__ void __launch_bounds__(fp32_threads(Br), blocks_per_sm(Br)) softmax_online_kernel(SoftmaxArgs a) {
    const auto block = a.row_block<Br, Bc>();  // [1]
    if (!warp_has_rows(block.rows)) return;

    float m = -infinity, d = 0;                 // [2]
    for (int j = 0; j < block.cols; j += Bc) {  // [3]
        Chunk<Bc> x;
        block.load(x, j);  // [4]
        const float m_old = m;
        m = fmaxf(m, row_max(x));
        const float correction = exponential(m_old - finite(m));  // [5]
        exp_minus(x, m, block.size(j));
        d = correction * d + row_sum(x);
    }
    const float factor = reciprocal(d);

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
        enqueue("softmax_online", softmax_online_kernel<v.tile.br, v.tile.bc>,
                grid_of(ceil_div(call.problem.seq_q, v.tile.br), call.problem.batch_heads()), v.threads, v.shared(),
                call.stream, SoftmaxArgs(call));
    });
}

}  // namespace tilescope::softmax_online
