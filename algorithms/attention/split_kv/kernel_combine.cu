// Flash-decoding's second launch: adds up the outputs of the parts of the keys. A thread has 4 neighbouring columns of
// a row, and loads 8 parts of them at once. With up to 8 parts, thread blocks are small and an SM holds many of them,
// which counts where there are many rows. With more parts, a row has four times the threads, each with a quarter of the
// parts: 32 parts of a row are then loaded at once, which counts where there are few rows.
#include "algorithms/attention/split_kv/algorithm.hpp"
#include "algorithms/attention/split_kv/kernel.hpp"
#include "algorithms/attention/split_kv/kernel_part.cuh"

namespace tilescope::split_kv {
namespace {

using namespace cuda;

constexpr int batch = 8;  // parts that a thread loads at once

template <class T>
struct CombineArgs {
    Global<const float> O_s, LSE_s;
    Global<T> O;
    Global<float> LSE;
    int seq_q, parts;

    explicit CombineArgs(const KernelCall& call)
        : O_s(call.tensors["O_s"]),
          LSE_s(call.tensors["LSE_s"]),
          O(call.tensors["O"]),
          LSE(call.tensors["LSE"]),
          seq_q(static_cast<int>(call.problem.seq_q)),
          parts(static_cast<int>(parts_of(call.tile()))) {}
};

/// Reduces over the `lanes` threads that share a row.
template <int lanes, class Op>
__device__ inline float reduce_row(float x, Op op) {
#pragma unroll
    for (int far = lanes / 2; far > 0; far /= 2) x = op(x, __shfl_xor_sync(~0u, x, far));
    return x;
}

/// sum += w x, not fused, because a counter would take a fused multiply-add for a matrix FLOP.
__device__ inline void add_weighted(float4& sum, float w, float4 x) {
    sum.x = __fadd_rn(sum.x, __fmul_rn(w, x.x));
    sum.y = __fadd_rn(sum.y, __fmul_rn(w, x.y));
    sum.z = __fadd_rn(sum.z, __fmul_rn(w, x.z));
    sum.w = __fadd_rn(sum.w, __fmul_rn(w, x.w));
}

/// Of a row's parts: the sum of their weights, and the LSE.
struct Sum {
    float weights, lse;
};

/// [12], [13]: writes the weights of a row's parts to `w`, not yet divided by their sum, from the row's LSE_s. `lanes`
/// threads share the row; all threads of a warp have to call this.
template <int lanes>
__device__ inline Sum weigh(float* w, const float* lse_s, int parts, int lane, bool exists) {
    float m = -infinity, sum = 0;
#pragma unroll 4
    for (int s = lane; s < parts; s += lanes) {
        const float x = exists ? load_past_l1(lse_s + s) : -infinity;
        w[s] = x;
        m = fmaxf(m, x);
    }
    m = finite(reduce_row<lanes>(m, [](float x, float y) { return fmaxf(x, y); }));
#pragma unroll 1  // unrolled, lanes with one part less would diverge, and a counter would see more exponentials
    for (int s = lane; s < parts; s += lanes) {
        const float x = exponential(w[s] - m);
        w[s] = x;
        sum += x;
    }
    sum = reduce_row<lanes>(sum, [](float x, float y) { return x + y; });
    return {sum, sum > 0 ? m + logf(sum) : -infinity};  // [14]
}

/// Adds up `o` over all shares of the same columns; the first share gets the sum.
template <int shares>
__device__ inline void add_shares(float4& o) {
    __shared__ float4 all[shares][combining_threads];
    const int share = threadIdx.x / combining_threads, place = threadIdx.x % combining_threads;
    all[share][place] = o;
    __syncthreads();
    if (share > 0) return;
#pragma unroll
    for (int k = 1; k < shares; ++k) {
        const float4 other = all[k][place];
        o.x += other.x, o.y += other.y, o.z += other.z, o.w += other.w;
    }
}

/// `shares` threads have the same columns of a row: share n takes parts n, n + shares, ...
template <class T, int Dv, int shares>
__global__ void __launch_bounds__(shares* combining_threads, shares == 1 ? 8 : 2) combine_kernel(CombineArgs<T> a) {
    constexpr int lanes = Dv / 4, Rows = combining_threads / lanes;
    static_assert(lanes <= 32, "a row is one warp's");
    extern __shared__ float weights[];
    __shared__ float lse[Rows];
    const int share = threadIdx.x / combining_threads, place = threadIdx.x % combining_threads;
    const int head = blockIdx.y, lane = place % lanes, r = place / lanes, S = a.parts;
    const int i = blockIdx.x * Rows + r;  // [11]
    const bool exists = i < a.seq_q;
    float* const w = weights + r * S;
    wait_for_launch_before();

    // The first parts of O_s arrive while the weights are computed.
    const float* const o_s = a.O_s.row(head, min(i, a.seq_q - 1)) + 4 * lane;
    const std::int64_t part = std::int64_t{a.seq_q} * a.O_s.pitch;
    float4 x[batch];
    const auto ask = [&](int first) {  // [15]
#pragma unroll
        for (int k = 0; k < batch; ++k)
            if (const int s = first + k * shares; s < S)
                x[k] = load_past_l1(reinterpret_cast<const float4*>(o_s + s * part));
    };
    if (exists) ask(share);

    Sum sum{};
    if (share == 0) {
        sum = weigh<lanes>(w, a.LSE_s.row(head, i), S, lane, exists);
        if (lane == 0) lse[r] = sum.lse;
    }
    __syncthreads();  // weights and LSE are here

    // One instruction stores all LSEs of the block, because several warps' stores to one sector are not always merged.
    const int row = blockIdx.x * Rows + threadIdx.x;
    if (threadIdx.x < Rows && row < a.seq_q) *a.LSE.row(head, row) = lse[threadIdx.x];  // [16]
    float4 o = {};
    for (int first = share; exists && first < S; first += batch * shares) {  // [15]
        if (first > share) ask(first);
#pragma unroll
        for (int k = 0; k < batch; ++k)
            if (const int s = first + k * shares; s < S) add_weighted(o, w[s], x[k]);
    }
    if constexpr (shares > 1) add_shares<shares>(o);
    if (share > 0 || !exists) return;
    const float each = inverse(sum.weights);
    store_four(a.O.row(head, i) + 4 * lane, float4{o.x * each, o.y * each, o.z * each, o.w * each});  // [16]
}

template <class T, int Dv, int shares>
void combine(const KernelCall& call) {
    const Index rows = rows_combined(call.problem);
    if (rows * Dv != 4 * combining_threads) throw std::logic_error("rows_combined() is not what the kernel combines");
    enqueue_overlapping("combine", combine_kernel<T, Dv, shares>,
                        grid_of(ceil_div(call.problem.seq_q, rows), call.problem.batch_heads()),
                        shares * combining_threads, rows * parts_of(call.tile()) * size_of(Dtype::f32), call.stream,
                        CombineArgs<T>(call));
}

template <class T, int Dv>
void combine(const KernelCall& call) {
    parts_of(call.tile()) <= batch ? combine<T, Dv, 1>(call) : combine<T, Dv, asked_together / batch>(call);
}

template <class T>
void combine(const KernelCall& call) {
    switch (call.problem.dim_v) {
        case 32:
            return combine<T, 32>(call);
        case 64:
            return combine<T, 64>(call);
        case 128:
            return combine<T, 128>(call);
        default:
            throw std::logic_error("no variant has this dim_v");
    }
}

}  // namespace

void launch_combine(const KernelCall& call) {
    switch (call.problem.dtype) {
        case Dtype::f32:
            return combine<float>(call);
        case Dtype::f16:
            return combine<__half>(call);
        case Dtype::bf16:
            return combine<__nv_bfloat16>(call);
        default:
            throw std::logic_error("no variant has this storage type");
    }
}

}  // namespace tilescope::split_kv
