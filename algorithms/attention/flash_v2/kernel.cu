// FlashAttention-2 on CUDA cores, in fp32. New against flash_v1: a thread block keeps Q_i, O_i, l_i and m_i while K and
// V stream past, so that O is written once, and row blocks run in parallel as well as heads. Bound by fp32 arithmetic:
// expect half of the chip's FMA peak (docs/validation.md has what was measured).
// Run it: tilescope validate flash_v2 --seq 4096 --heads 64 --dim 64 --dtype f32
#include "algorithms/attention/flash_v2/kernel.hpp"
#include "algorithms/cuda/row_statistics.cuh"
#include "algorithms/cuda/scores.cuh"

namespace tilescope::flash_v2 {
namespace {

using namespace cuda;

/// `Logits` is PlainScores or Scored.
template <class Logits>
struct Args {
    Global<const float> Q, K, V;
    Global<float> O, LSE;
    Logits logits;
};

// At D = 128, ptxas would spill registers to make room for a third thread block per SM. Shared memory has no room for
// three anyway, so that only one is asked for.
template <class Logits, int Br, int Bc, int D, int Dv>
__global__ void __launch_bounds__(fp32_threads(Br), D == 128 ? 1 : 0) flash_v2_kernel(Args<Logits> a) {
    constexpr int threads = fp32_threads(Br);
    extern __shared__ float4 shared[];
    const SharedTile<Br, D, ReadBy::groups> q{reinterpret_cast<float*>(shared)};
    const SharedTile<Bc, D, ReadBy::lanes> k{q.data + q.size};
    const SharedTile<Bc, Dv, ReadBy::rows> v{k.data + k.size};
    const SharedTile<Br, Bc, ReadBy::groups> p{v.data + v.size};
    float* const beside = p.data + p.size;
    const Workload& w = a.logits.work;

    const int head = blockIdx.y, kv = w.kv_slice(head);
    const int i = (gridDim.x - 1 - blockIdx.x) * Br;  // [3] row blocks that see most keys start first
    const int rows = min(Br, w.seq_q - i);
    const Visits visits = a.logits.visits(i, rows, Br, Bc);
    const bool active = warp_has_rows(rows);
    const auto load_keys = [&](int j) {  // [7]
        load_async<threads>(k, a.K.row(kv, j), a.K.pitch, min(Bc, w.seq_k - j));
        a.logits.template load<threads, Bc>(beside, head, j, min(Bc, w.seq_k - j));
    };

    load_async<threads>(q, a.Q.row(head, i), a.Q.pitch, rows);  // [4]
    if (visits.first < visits.end) load_keys(a.logits.tile(visits.first) * Bc);
    Output<Dv> o;  // [5]
    o.fill(0);
    float l = 0, m = -infinity;

    for (int t = visits.first; t < visits.end; ++t) {  // [6]
        const int j = a.logits.tile(t) * Bc, keys = min(Bc, w.seq_k - j);
        wait_for_loads();                                         // K_j is here, and V_(j-1) is no longer read
        load_async<threads>(v, a.V.row(kv, j), a.V.pitch, keys);  // [7] while S is computed
        if (active) {
            Scores<Bc> s;
            score(s, q, k, keys, w.scale);  // [8]
            a.logits.finish(s, beside, head, i, j, keys);
            if (t >= visits.whole) mask(s, a.logits, i, j, keys);
            const float m_old = m;  // [9]
            m = fmaxf(m, row_max(s));
            const float correction = exponential(m_old - finite(m));
            exp_minus(s, m, keys);
            l = correction * l + row_sum(s);
            o.scale_rows(correction);  // [10]
            stage(p, s);
            a.logits.drop(p, head, i, j);
        }
        wait_for_loads();                                              // V_j is here, and K_j is no longer read
        if (t + 1 < visits.end) load_keys(a.logits.tile(t + 1) * Bc);  // [7] while O is updated
        if (active) accumulate(o, p, v, keys);                         // [10]
    }                                                                  // [11]
    wait_for_loads();

    if (!active) return;
    o.scale_rows(inverse(l));                           // [12]
    const float lse = l > 0 ? m + logf(l) : -infinity;  // [13]
    store(o, a.O.row(head, i), a.O.pitch, rows);        // [14]
    store_kept(lse, a.LSE.row(head, i), rows);          // [15]
}

template <class Logits>
void launch(const KernelCall& call) {
    const auto& t = call.tensors;
    const Args<Logits> args{Global<const float>(t["Q"]), Global<const float>(t["K"]), Global<const float>(t["V"]),
                            Global<float>(t["O"]),       Global<float>(t["LSE"]),     Logits(call)};
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        if constexpr (v.dtype == Dtype::f32 && compiled_for<Logits>(v)) {
            constexpr auto kernel = flash_v2_kernel<Logits, v.tile.br, v.tile.bc, v.dim, v.dim_v>;
            enqueue("flash_v2", kernel, grid_of(ceil_div(call.problem.seq_q, v.tile.br), call.problem.batch_heads()),
                    v.threads, v.shared() + Logits::beside(v.tile.bc), call.stream, args);
        }
    });
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    if (call.variant->dtype != Dtype::f32)
        launch_tensor_cores(call);
    else if (scores_are_plain(call.problem))
        launch<PlainScores>(call);
    else
        launch<Scored>(call);
}

}  // namespace tilescope::flash_v2
