// The standard backward pass as five launches on CUDA cores, in fp32: P is kept from the forward pass, dP and dS are
// whole matrices in HBM. The four products are tiled. In launch 3, a row of P and of dP is read once and stays in
// registers, up to 16384 keys. Longer rows are read twice. In the model, this begins at some 21,800 keys on an H200.
//
// Bound by memory.
// Run it: tilescope validate standard_backward --seq 4096 --heads 16 --dim 64 --dtype f32
#include "algorithms/attention_backward/standard_backward/kernel.hpp"
#include "algorithms/cuda/gradients.cuh"
#include "algorithms/cuda/whole_rows.cuh"

namespace tilescope::standard_backward {
namespace {

using namespace cuda;

struct Args : GradientArgs<float> {
    Global<const float> P;
    Global<float> dP, dS;

    explicit Args(const KernelCall& call)
        : GradientArgs<float>(call), P(call.tensors["P"]), dP(call.tensors["dP"]), dS(call.tensors["dS"]) {}
};

// ---- launches 1 and 5 ----

/// out_j = factor times the sum of w_ij^T x_i, over rows and over the query heads that share the head of K and V.
template <int B, int D>
__global__ void __launch_bounds__(fp32_threads(B), 1)
    over_rows(Global<const float> w, Global<const float> x, Global<float> out, Workload work, int group, float factor) {
    constexpr int threads = fp32_threads(B);
    extern __shared__ float4 shared[];
    const SharedTile<B, B, ReadBy::groups> weights{reinterpret_cast<float*>(shared)};
    const SharedTile<B, D, ReadBy::groups> values{weights.data + weights.size};
    const int kv = blockIdx.y, j = blockIdx.x * B, keys = min(B, work.seq_k - j);
    Output<D> sum;
    sum.fill(0);
    for (int head = kv * group; head < (kv + 1) * group; ++head)
        for (int i = 0; i < work.seq_q; i += B) {
            const int rows = min(B, work.seq_q - i);
            load_scores<threads>(weights, w.row(head, i) + j, w.pitch, rows, keys);
            load_async<threads>(values, x.row(head, i), x.pitch, rows);
            wait_for_loads();
            accumulate_transposed<2>(sum, weights, values, rows);
            __syncthreads();  // both tiles are no longer read
        }
    sum.scale_rows(factor);
    store(sum, out.row(kv, j), out.pitch, keys);
}

// ---- launch 2 ----

template <int B, int Dv>
__global__ void __launch_bounds__(fp32_threads(B), 1) weight_gradients(Args a) {
    constexpr int threads = fp32_threads(B);
    extern __shared__ float4 shared[];
    const SharedTile<B, Dv, ReadBy::groups> g{reinterpret_cast<float*>(shared)};
    const SharedTile<B, Dv, ReadBy::lanes> v{g.data + g.size};
    const Workload& w = a.work;
    const int head = blockIdx.y, i = blockIdx.x * B, j = blockIdx.z * B;
    const int rows = min(B, w.seq_q - i), keys = min(B, w.seq_k - j);
    load_async<threads>(g, a.dO.row(head, i), a.dO.pitch, rows);
    load_async<threads>(v, a.V.row(w.kv_slice(head), j), a.V.pitch, keys);
    wait_for_loads();
    if (!warp_has_rows(rows)) return;
    Scores<B> s;
    score(s, g, v, keys, 1);
    store(s, a.dP.row(head, i) + j, a.dP.pitch, rows, keys);
}

// ---- launch 3 ----

/// dS = P * (dP - D), D = rowsum(P * dP).
template <int T>
__global__ void __launch_bounds__(whole_rows_threads, 1) score_gradients(Args a) {
    __shared__ float sums[whole_rows_threads / 32];
    const int head = blockIdx.y, t = threadIdx.x % T;
    const int i = blockIdx.x * (whole_rows_threads / T) + threadIdx.x / T;
    const int cols = i < a.work.seq_q ? a.work.seq_k : 0;  // rows that do not exist have no columns
    Row<T> p(t, cols), dp(t, cols);
    p.load(a.P.row(head, i), 0);
    dp.load(a.dP.row(head, i), 0);
    float d = 0;
    each_of(p, dp, [&](float& x, float& y) { d = fmaf(x, y, d); });
    d = sum_of_row<T>(d, sums);
    each_of(p, dp, [&](float& x, float& y) { y = x * (y - d); });
    dp.store(a.dS.row(head, i));
}

/// score_gradients() for rows that do not fit in registers.
__global__ void __launch_bounds__(whole_rows_threads) score_gradients_streamed(Args a) {
    __shared__ float sums[whole_rows_threads / 32];
    const int head = blockIdx.y, i = blockIdx.x;
    const float *const p = a.P.row(head, i), *const dp = a.dP.row(head, i);
    float* const ds = a.dS.row(head, i);
    float d = 0;
    for (int c = threadIdx.x; c < a.work.seq_k; c += whole_rows_threads)
        d = fmaf(load_past_l1(p + c), load_past_l1(dp + c), d);
    d = sum_of_row<whole_rows_threads>(d, sums);
    for (int c = threadIdx.x; c < a.work.seq_k; c += whole_rows_threads)
        ds[c] = load_past_l1(p + c) * (load_past_l1(dp + c) - d);
}

template <int T>
void enqueue_score_gradients(const KernelCall& call, const Args& args) {
    const Problem& p = call.problem;
    if (p.seq_k > Row<T>::capacity) {
        if constexpr (T < whole_rows_threads)
            enqueue_score_gradients<2 * T>(call, args);
        else
            enqueue("dS", score_gradients_streamed, grid_of(p.seq_q, p.batch_heads()), whole_rows_threads, 0,
                    call.stream, args);
        return;
    }
    enqueue("dS", score_gradients<T>, grid_of(ceil_div(p.seq_q, whole_rows_threads / T), p.batch_heads()),
            whole_rows_threads, 0, call.stream, args);
}

// ---- launch 4 ----

template <int B, int D>
__global__ void __launch_bounds__(fp32_threads(B), 1) query_gradients(Args a) {
    constexpr int threads = fp32_threads(B);
    extern __shared__ float4 shared[];
    const SharedTile<B, B, ReadBy::groups> s{reinterpret_cast<float*>(shared)};
    const SharedTile<B, D, ReadBy::rows> k{s.data + s.size};
    const Workload& w = a.work;
    const int head = blockIdx.y, kv = w.kv_slice(head), i = blockIdx.x * B, rows = min(B, w.seq_q - i);
    const bool active = warp_has_rows(rows);
    Output<D> dq;
    dq.fill(0);
    for (int j = 0; j < w.seq_k; j += B) {
        const int keys = min(B, w.seq_k - j);
        load_scores<threads>(s, a.dS.row(head, i) + j, a.dS.pitch, rows, keys);
        load_async<threads>(k, a.K.row(kv, j), a.K.pitch, keys);
        wait_for_loads();
        if (active) accumulate(dq, s, k, keys);
        __syncthreads();  // dS_ij and K_j are no longer read
    }
    dq.scale_rows(w.scale);
    if (active) store(dq, a.dQ.row(head, i), a.dQ.pitch, rows);
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    const Problem& p = call.problem;
    const Args args(call);
    const Global<const float> dS(call.tensors["dS"]);
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        constexpr Index block = v.tile.br;
        const dim3 row_blocks = grid_of(ceil_div(p.seq_q, block), p.batch_heads()),
                   key_blocks = grid_of(ceil_div(p.seq_k, block), p.kv_slices());
        enqueue("dV", over_rows<block, v.dim_v>, key_blocks, v.threads, weighted_tiles(block, v.dim_v), call.stream,
                args.P, args.dO, args.dV, args.work, args.group, 1.f);
        enqueue("dP", weight_gradients<block, v.dim_v>, dim3(row_blocks.x, row_blocks.y, key_blocks.x), v.threads,
                scores_tiles(block, v.dim_v), call.stream, args);
        enqueue_score_gradients<16>(call, args);
        enqueue("dQ", query_gradients<block, v.dim>, row_blocks, v.threads, weighted_tiles(block, v.dim), call.stream,
                args);
        enqueue("dK", over_rows<block, v.dim>, key_blocks, v.threads, weighted_tiles(block, v.dim), call.stream, dS,
                args.Q, args.dK, args.work, args.group, args.work.scale);
    });
}

}  // namespace tilescope::standard_backward
