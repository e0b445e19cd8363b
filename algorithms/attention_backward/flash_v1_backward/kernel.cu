// FlashAttention's backward pass (Algorithm 4) on CUDA cores, in fp32. One thread block per head of K and V does all:
// it alone adds to dQ_i, which goes to HBM and back for every key block. Unlike flash_v2_backward, which is newer, it
// reads l and m in place of the LSE, and computes D_i from O_i again for every key block. Bound by parallelism: only as
// many SMs work as there are heads of K and V.
// Run it: tilescope validate flash_v1_backward --seq 1024 --heads 128 --dim 64 --dtype f32
#include "algorithms/attention_backward/flash_v1_backward/kernel.hpp"
#include "algorithms/cuda/gradients.cuh"

namespace tilescope::flash_v1_backward {
namespace {

using namespace cuda;

struct Args : GradientArgs<float> {
    Global<const float> O, l, m;

    explicit Args(const KernelCall& call)
        : GradientArgs<float>(call), O(call.tensors["O"]), l(call.tensors["l"]), m(call.tensors["m"]) {}
};

/// Writes zeros to the first `rows` rows. [5]
template <int D>
__device__ inline void clear(float* to, int pitch, int rows) {
    Output<D> zeros;
    zeros.fill(0);
    store(zeros, to, pitch, rows);
}

/// D_i = rowsum(dO_i * O_i). Two lanes keep D of each row. [19]
template <int B, int Dv>
__device__ inline float row_products(const SharedTile<B, Dv, ReadBy::groups>& g, const float* O, int pitch, int rows) {
    constexpr int cols = 32;  // at once: with more, registers spill
    float sum[R] = {};
#pragma unroll 1
    for (int c = 0; c < Dv; c += cols) {
        Output<cols> o;
        load(o, O + c, pitch, rows);
#pragma unroll
        for (int i = 0; i < R; ++i)
#pragma unroll
            for (int j = 0; j < Output<cols>::C; ++j)
                sum[i] = fmaf(o.at[i][j], g.at(first_row() + i, c + Output<cols>::col(j)), sum[i]);
    }
    return reduce_rows(sum, [](float x, float y) { return x + y; });
}

/// Writes dQ_i + scale dS K_j to HBM. `from` has dQ_i as it was read. [21]
template <int B, int D, int Dv>
__device__ inline void update_query_gradients(const BackwardTiles<B, D, Dv, true>& tiles,
                                              const SharedTile<B, D, ReadBy::groups>& from, float* to, int pitch,
                                              int rows, int keys) {
    constexpr int cols = BackwardTiles<B, D, Dv, true>::query_cols;
#pragma unroll 1
    for (int c = 0; c < D; c += cols) {
        Output<cols> dq;
#pragma unroll
        for (int i = 0; i < R; ++i)
#pragma unroll
            for (int j = 0; j < Output<cols>::C; ++j) dq.at[i][j] = from.at(first_row() + i, c + Output<cols>::col(j));
        accumulate(dq, tiles.scores, tiles.k, keys, c);
        store(dq, to + c, pitch, rows);
    }
}

template <int B, int D, int Dv>
__global__ void __launch_bounds__(fp32_threads(B), 1) flash_v1_backward_kernel(Args a) {
    constexpr int threads = fp32_threads(B);
    extern __shared__ float4 shared[];
    const BackwardTiles<B, D, Dv, true> tiles(shared);  // l, m and O_i go to registers
    const SharedTile<B, D, ReadBy::groups> dq_tile{tiles.scores.data + tiles.scores.size};
    const Workload& w = a.work;
    const int kv = blockIdx.y;
    const int first_head = kv * a.group, end_head = first_head + a.group;

    for (int head = first_head; head < end_head; ++head)
        for (int i = 0; i < w.seq_q; i += B) clear<D>(a.dQ.row(head, i), a.dQ.pitch, w.seq_q - i);
    for (int j = 0; j < w.seq_k; j += B) {
        clear<D>(a.dK.row(kv, j), a.dK.pitch, w.seq_k - j);
        clear<Dv>(a.dV.row(kv, j), a.dV.pitch, w.seq_k - j);
    }
    __syncthreads();

    for (int j = 0; j < w.seq_k; j += B) {  // [6]
        const int keys = min(B, w.seq_k - j), first = w.first_seeing(j, B) * B;
        if (first >= w.seq_q) continue;
        tiles.load_keys(a, kv, j, keys);  // [7]
        Output<D> dk;                     // [8]
        Output<Dv> dv;
        dk.fill(0);
        dv.fill(0);
        for (int head = first_head; head < end_head; ++head)
            for (int i = first; i < w.seq_q; i += B) {  // [9]
                const int rows = min(B, w.seq_q - i);
                tiles.load_rows(a, head, i, rows);  // [10]
                load_async<threads>(dq_tile, a.dQ.row(head, i), a.dQ.pitch, rows);
                const Pair l_m = load_pair(a.l.row(head, i), a.m.row(head, i), rows);
                wait_for_loads();
                const bool active = warp_has_rows(rows);
                Scores<B> s;
                float d = 0;
                if (active) {
                    d = row_products(tiles.g, a.O.row(head, i), a.O.pitch, rows);
                    tiles.probabilities(s, w, l_m.second, i, j, keys);  // [11] to [13]
                    s.scale_rows(inverse(l_m.first));
                    stage(tiles.scores, s);
                }
                __syncthreads();                                                         // P is here
                accumulate_transposed<tiles.unrolled>(dv, tiles.scores, tiles.g, rows);  // [16]
                if (active) tiles.score_gradients(s, w, d, keys);                        // [17], [20]
                __syncthreads();                                                         // P is no longer read
                if (active) {
                    stage(tiles.scores, s);
                    update_query_gradients(tiles, dq_tile, a.dQ.row(head, i), a.dQ.pitch, rows, keys);
                }
                __syncthreads();                                                         // dS is here
                accumulate_transposed<tiles.unrolled>(dk, tiles.scores, tiles.q, rows);  // [22]
                __syncthreads();  // the tiles of these rows are no longer read
            }
        store(dk, a.dK.row(kv, j), a.dK.pitch, keys);  // [24]
        store(dv, a.dV.row(kv, j), a.dV.pitch, keys);
        __syncthreads();  // K_j and V_j are no longer read
    }
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        enqueue("flash_v1_backward", flash_v1_backward_kernel<v.tile.br, v.dim, v.dim_v>,
                grid_of(1, call.problem.kv_slices()), v.threads, v.shared(), call.stream, Args(call));
    });
}

}  // namespace tilescope::flash_v1_backward
