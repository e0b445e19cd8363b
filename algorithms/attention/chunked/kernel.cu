// Rabe and Staats' chunks on CUDA cores, in fp32. New against flash_v2: no state is carried from one key chunk to the
// next. Each is summarised under its own maximum; the summaries (m_j, s_j, v_j) go to HBM and come back to be combined.
// A thread reads back only what it wrote itself, so that no barrier is needed. One thread block per head takes the
// query chunks one after the other.
// Bound by parallelism, because there are only batch x heads thread blocks: expect flash_v2's speed times the share of
// SMs that have one, less the time that the summaries take to HBM and back.
// Run it: tilescope validate chunked --seq 4096 --heads 64 --dim 64 --dtype f32
#include "algorithms/attention/chunked/kernel.hpp"
#include "algorithms/cuda/row_statistics.cuh"

namespace tilescope::chunked {
namespace {

using namespace cuda;

struct Args {
    Global<const float> Q, K, V;
    Global<float> O, m_j, s_j, v_j;
    Workload work;
};

template <int Dv>
__device__ void add(Output<Dv>& sum, const Output<Dv>& x) {
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
        for (int j = 0; j < x.C; ++j) sum.at[i][j] = __fadd_rn(sum.at[i][j], x.at[i][j]);  // not fused with the scaling
}

template <int Br, int Bc, int D, int Dv>
__global__ void __launch_bounds__(fp32_threads(Br), 1) chunked_kernel(Args a) {
    constexpr int threads = fp32_threads(Br);
    extern __shared__ float4 shared[];
    const SharedTile<Br, D, ReadBy::groups> q{reinterpret_cast<float*>(shared)};
    const SharedTile<Bc, D, ReadBy::lanes> k{q.data + q.size};
    const SharedTile<Bc, Dv, ReadBy::rows> v{k.data + k.size};
    const SharedTile<Br, Bc, ReadBy::groups> p{v.data + v.size};
    const Workload& w = a.work;

    const int head = blockIdx.y, kv = w.kv_slice(head);
    const auto load_keys = [&](int j) { load_async<threads>(k, a.K.row(kv, j), a.K.pitch, min(Bc, w.seq_k - j)); };

    for (int i = 0; i < w.seq_q; i += Br) {  // [1]
        const int rows = min(Br, w.seq_q - i), chunks = w.visible_tiles(i + rows, Bc);
        const bool active = warp_has_rows(rows);
        load_async<threads>(q, a.Q.row(head, i), a.Q.pitch, rows);  // [2]
        if (chunks > 0) load_keys(0);
        float greatest = -infinity;

        for (int n = 0; n < chunks; ++n) {  // [3]
            const int j = n * Bc, keys = min(Bc, w.seq_k - j);
            wait_for_loads();                                         // K_j is here, and V_(j-1) is no longer read
            load_async<threads>(v, a.V.row(kv, j), a.V.pitch, keys);  // while S is computed
            float m = 0, sum = 0;
            if (active) {
                Scores<Bc> s;
                score(s, q, k, keys, w.scale);
                mask(s, w, i, j, keys);
                m = row_max(s);  // [4]
                exp_minus(s, m, keys);
                sum = row_sum(s);
                stage(p, s);
            }
            wait_for_loads();                       // V_j is here, and K_j is no longer read
            if (n + 1 < chunks) load_keys(j + Bc);  // [3] while v_j is computed
            if (active) {
                Output<Dv> pv;
                pv.fill(0);
                accumulate(pv, p, v, keys);
                store_pair({m, sum}, a.m_j.row(head, n * rows), a.s_j.row(head, n * rows), rows);  // [5]
                store(pv, a.v_j.row(head, n * rows), a.v_j.pitch, rows);
                greatest = fmaxf(greatest, m);
            }
        }
        wait_for_loads();  // also where no key is seen, so that the next query chunk may load
        if (!active) continue;

        Output<Dv> o;
        o.fill(0);
        float sum = 0;
        for (int n = 0; n < chunks; ++n) {  // [6]
            Output<Dv> pv;
            load(pv, a.v_j.row(head, n * rows), a.v_j.pitch, rows);
            const auto [m_j, s_j] = load_pair(a.m_j.row(head, n * rows), a.s_j.row(head, n * rows), rows);
            const float weight = exponential(m_j - finite(greatest));  // [7]
            sum += weight * s_j;
            pv.scale_rows(weight);
            add(o, pv);
        }
        o.scale_rows(inverse(sum));  // [8]
        store(o, a.O.row(head, i), a.O.pitch, rows);
    }
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    const auto& t = call.tensors;
    const Args args{Global<const float>(t["Q"]), Global<const float>(t["K"]), Global<const float>(t["V"]),
                    Global<float>(t["O"]),       Global<float>(t["m_j"]),     Global<float>(t["s_j"]),
                    Global<float>(t["v_j"]),     Workload(call.problem)};
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        constexpr auto kernel = chunked_kernel<v.tile.br, v.tile.bc, v.dim, v.dim_v>;
        enqueue("chunked", kernel, grid_of(1, call.problem.batch_heads()), v.threads, v.shared(), call.stream, args);
    });
}

}  // namespace tilescope::chunked
