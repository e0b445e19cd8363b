// The xformers kernel's loops on CUDA cores, in fp32. New against flash_v2: both products share one buffer in shared
// memory, first Q_i and K_j, then P and V_j. A thread block needs half the shared memory, but reads Q_i again for every
// key block, and the products wait for their loads: only the load of V_j overlaps with work, the softmax of S.
// Bound by fp32 arithmetic: expect a little less than flash_v2's speed.
// Run it: tilescope validate memory_efficient --seq 4096 --heads 64 --dim 64 --dtype f32
#include "algorithms/attention/memory_efficient/kernel.hpp"
#include "algorithms/cuda/row_statistics.cuh"
#include "algorithms/cuda/scores.cuh"

namespace tilescope::memory_efficient {
namespace {

using namespace cuda;

/// `Logits` is PlainScores or Scored.
template <class Logits>
struct Args {
    Global<const float> Q, K, V;
    Global<float> O;
    Logits logits;
};

/// Thread blocks per SM for __launch_bounds__; 0: the compiler decides. With three for Scored, the compiler spills.
template <class Logits>
constexpr int min_blocks = std::is_same_v<Logits, PlainScores> ? 0 : 2;

template <class Logits, int Br, int Bc, int D, int Dv>
__global__ void __launch_bounds__(fp32_threads(Br), min_blocks<Logits>) memory_efficient_kernel(Args<Logits> a) {
    constexpr int threads = fp32_threads(Br);
    extern __shared__ float4 shared[];
    const SharedTile<Br, D, ReadBy::groups> q{reinterpret_cast<float*>(shared)};
    const SharedTile<Bc, D, ReadBy::lanes> k{q.data + q.size};
    const SharedTile<Br, Bc, ReadBy::groups> p{q.data};  // in the place of Q_i and K_j
    const SharedTile<Bc, Dv, ReadBy::rows> v{p.data + p.size};
    float* const m = q.data + max(q.size + k.size, p.size + v.size);
    float* const sum = m + Br;
    float* const beside = sum + Br;
    const Workload& w = a.logits.work;

    const int head = blockIdx.y, kv = w.kv_slice(head);
    const int i = (gridDim.x - 1 - blockIdx.x) * Br;  // [1] row blocks that see most keys start first
    const int rows = min(Br, w.seq_q - i);
    const Visits visits = a.logits.visits(i, rows, Br, Bc);
    const bool active = warp_has_rows(rows);

    Output<Dv> o;  // [2]
    o.fill(0);
    store_kept(-infinity, m, Br);
    store_kept(0, sum, Br);
    __syncwarp();  // one warp alone uses a row's statistics

    for (int t = visits.first; t < visits.end; ++t) {  // [3]
        const int j = a.logits.tile(t) * Bc, keys = min(Bc, w.seq_k - j);
        load_async<threads>(q, a.Q.row(head, i), a.Q.pitch, rows);  // [4]
        load_async<threads>(k, a.K.row(kv, j), a.K.pitch, keys);
        a.logits.template load<threads, Bc>(beside, head, j, keys);
        wait_for_loads();  // Q_i and K_j are here
        Scores<Bc> s;
        if (active) score(s, q, k, keys, w.scale);
        __syncthreads();                                          // Q_i and K_j are no longer read
        load_async<threads>(v, a.V.row(kv, j), a.V.pitch, keys);  // [7] while P is computed
        if (active) {
            a.logits.finish(s, beside, head, i, j, keys);
            if (t >= visits.whole) mask(s, a.logits, i, j, keys);
            const float m_old = m[kept_row()], sum_old = sum[kept_row()];
            const float m_new = fmaxf(m_old, row_max(s));  // [5]
            const float correction = exponential(m_old - finite(m_new));
            exp_minus(s, m_new, keys);
            __syncwarp();  // both lanes that keep a row have read m' and s'
            store_kept(m_new, m, Br);
            store_kept(correction * sum_old + row_sum(s), sum, Br);
            o.scale_rows(correction);  // [6]
            stage(p, s);               // [7]
            a.logits.drop(p, head, i, j);
        }
        wait_for_loads();  // V_j is here
        if (active) accumulate(o, p, v, keys);
        __syncthreads();  // P and V_j are no longer read
    }

    if (!active) return;
    o.scale_rows(inverse(sum[kept_row()]));  // [8]
    store(o, a.O.row(head, i), a.O.pitch, rows);
}

template <class Logits>
void launch(const KernelCall& call) {
    const auto& t = call.tensors;
    const Args<Logits> args{Global<const float>(t["Q"]), Global<const float>(t["K"]), Global<const float>(t["V"]),
                            Global<float>(t["O"]), Logits(call)};
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        if constexpr (compiled_for<Logits>(v)) {
            constexpr auto kernel = memory_efficient_kernel<Logits, v.tile.br, v.tile.bc, v.dim, v.dim_v>;
            enqueue("memory_efficient", kernel,
                    grid_of(ceil_div(call.problem.seq_q, v.tile.br), call.problem.batch_heads()), v.threads,
                    v.shared() + Logits::beside(v.tile.bc), call.stream, args);
        }
    });
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    scores_are_plain(call.problem) ? launch<PlainScores>(call) : launch<Scored>(call);
}

}  // namespace tilescope::memory_efficient
