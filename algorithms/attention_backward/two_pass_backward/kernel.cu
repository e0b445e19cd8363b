// The backward pass in two passes over the tiles, on CUDA cores, in fp32: by key blocks for dK and dV, by row blocks
// for dQ. Nothing is added in HBM, so that results have the same bits in every run.
// Bound by fp32 arithmetic: seven products instead of five, so expect seven fifths of flash_v2_backward's time.
// Run it: tilescope validate two_pass_backward --seq 4096 --heads 16 --dim 64 --dtype f32
#include "algorithms/attention_backward/two_pass_backward/kernel.hpp"
#include "algorithms/cuda/gradients.cuh"

namespace tilescope::two_pass_backward {
namespace {

using namespace cuda;

template <int B, int D, int Dv>
__global__ void __launch_bounds__(fp32_threads(B), 1) keys_kernel(BackwardArgs<float> a) {
    extern __shared__ float4 shared[];
    key_block<B, D, Dv>(a, shared, blockIdx.x * B, [](const auto&, int, int, int, int) {});
}

template <int B, int D, int Dv>
__global__ void __launch_bounds__(fp32_threads(B), 1) rows_kernel(BackwardArgs<float> a) {
    extern __shared__ float4 shared[];
    const BackwardTiles<B, D, Dv> tiles(shared);
    const Workload& w = a.work;
    const int head = blockIdx.y, kv = w.kv_slice(head);
    const int i = (gridDim.x - 1 - blockIdx.x) * B, rows = min(B, w.seq_q - i);  // row blocks that see most keys first
    const int end = w.visible_tiles(i + rows, B) * B;
    const bool active = warp_has_rows(rows);
    Output<D> dq;
    dq.fill(0);
    if (end > 0) {
        tiles.load_rows(a, head, i, rows);
        const Pair statistics = load_pair(a.LSE.row(head, i), a.D.row(head, i), rows);
        for (int j = 0; j < end; j += B) {
            const int keys = min(B, w.seq_k - j);
            tiles.load_keys(a, kv, j, keys);
            wait_for_loads();
            if (active) {
                Scores<B> s;
                tiles.probabilities(s, w, statistics.first, i, j, keys);
                tiles.score_gradients(s, w, statistics.second, keys);
                stage(tiles.scores, s);
                accumulate(dq, tiles.scores, tiles.k, keys);
            }
            __syncthreads();  // K_j and V_j are no longer read
        }
    }
    if (active) store(dq, a.dQ.row(head, i), a.dQ.pitch, rows);
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    const Problem& p = call.problem;
    const BackwardArgs<float> args(call);
    dispatch<kernels>(call, [&]<std::size_t I>() {
        static constexpr KernelVariant v = kernels[I];
        constexpr Index block = v.tile.br;
        enqueue_row_products<float, v>(call, Global<float>(DeviceTensor{nullptr, {1, 1, Dtype::f32}}));
        enqueue("keys", keys_kernel<block, v.dim, v.dim_v>, grid_of(ceil_div(p.seq_k, block), p.kv_slices()), v.threads,
                v.shared(), call.stream, args);
        enqueue("rows", rows_kernel<block, v.dim, v.dim_v>, grid_of(ceil_div(p.seq_q, block), p.batch_heads()),
                v.threads, v.shared(), call.stream, args);
    });
}

}  // namespace tilescope::two_pass_backward
