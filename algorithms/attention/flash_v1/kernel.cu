// FlashAttention-1's loops on CUDA cores, in fp32. New against two_pass: O is corrected along with l, so that one
// pass is enough. K_j and V_j stay in shared memory. For each row block, Q_i and the unfinished O_i, l_i and m_i come
// from HBM, and O_i, l_i and m_i go back. A thread reads back only what it wrote itself, so that no barrier is needed.
// Bound by parallelism, because there are only batch x heads thread blocks: expect flash_v2's speed times the share of
// SMs that have one, less the time that waiting for O_i takes.
// Run it: tilescope validate flash_v1 --seq 4096 --heads 64 --dim 64 --dtype f32
#include "algorithms/attention/flash_v1/kernel.hpp"
#include "algorithms/cuda/row_statistics.cuh"

namespace tilescope::flash_v1 {
namespace {

using namespace cuda;

struct Args {
    Global<const float> Q, K, V;
    Global<float> O, l, m;
    Workload work;
};

template <int Br, int Bc, int D, int Dv>
__global__ void __launch_bounds__(fp32_threads(Br), 1) flash_v1_kernel(Args a) {
    constexpr int threads = fp32_threads(Br);
    extern __shared__ float4 shared[];
    const SharedTile<Br, D, ReadBy::groups> q{reinterpret_cast<float*>(shared)};
    const SharedTile<Bc, D, ReadBy::lanes> k{q.data + q.size};
    const SharedTile<Bc, Dv, ReadBy::rows> v{k.data + k.size};
    const SharedTile<Br, Bc, ReadBy::groups> p{v.data + v.size};
    const Workload& w = a.work;

    const int head = blockIdx.y, kv = w.kv_slice(head);
    const auto rows_of = [&](int i) { return min(Br, w.seq_q - i); };
    const auto load_queries = [&](int i) { load_async<threads>(q, a.Q.row(head, i), a.Q.pitch, rows_of(i)); };
    const auto store_block = [&](int i, const Output<Dv>& o, float l, float m) {
        store(o, a.O.row(head, i), a.O.pitch, rows_of(i));
        store_pair({l, m}, a.l.row(head, i), a.m.row(head, i), rows_of(i));
    };

    Output<Dv> o;
    o.fill(0);
    for (int i = 0; i < w.seq_q; i += Br) store_block(i, o, 0, -infinity);  // [2]

    for (int j = 0; j < w.seq_k; j += Bc) {  // [5]
        const int keys = min(Bc, w.seq_k - j), first = w.first_seeing(j, Br) * Br;
        load_async<threads>(k, a.K.row(kv, j), a.K.pitch, keys);  // [6]
        load_async<threads>(v, a.V.row(kv, j), a.V.pitch, keys);
        load_queries(first);                         // [8]
        for (int i = first; i < w.seq_q; i += Br) {  // [7]
            const int rows = rows_of(i);
            const bool active = warp_has_rows(rows);
            Pair l_m{};
            if (active) {  // [8] O_i, l_i and m_i arrive while Q_i does
                load(o, a.O.row(head, i), a.O.pitch, rows);
                l_m = load_pair(a.l.row(head, i), a.m.row(head, i), rows);
            }
            wait_for_loads();  // Q_i is here
            Scores<Bc> s;
            if (active) score(s, q, k, keys, w.scale);   // [9]
            __syncthreads();                             // Q_i is no longer read
            if (i + Br < w.seq_q) load_queries(i + Br);  // [8] while O_i is updated
            if (!active) continue;
            mask(s, w, i, j, keys);
            const auto [l, m] = l_m;
            const float m_tile = row_max(s);  // [10]
            exp_minus(s, m_tile, keys);
            const float l_tile = row_sum(s);
            const float m_new = fmaxf(m, m_tile);  // [11]
            const auto [old, tile] = exchange(exponential((keeps_first() ? m : m_tile) - finite(m_new)));
            const float l_new = old * l + tile * l_tile, inverse_l = inverse(l_new);
            o.scale_rows(old * l * inverse_l);  // [12]
            s.scale_rows(tile * inverse_l);
            stage(p, s);
            accumulate(o, p, v, keys);
            store_block(i, o, l_new, m_new);  // [12] [13]
        }                                     // [14]
        __syncthreads();                      // K_j and V_j are no longer read
    }                                         // [15]
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    const auto& t = call.tensors;
    const Args args{Global<const float>(t["Q"]), Global<const float>(t["K"]), Global<const float>(t["V"]),
                    Global<float>(t["O"]),       Global<float>(t["l"]),       Global<float>(t["m"]),
                    Workload(call.problem)};
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        constexpr auto kernel = flash_v1_kernel<v.tile.br, v.tile.bc, v.dim, v.dim_v>;
        enqueue("flash_v1", kernel, grid_of(1, call.problem.batch_heads()), v.threads, v.shared(), call.stream, args);
    });
}

}  // namespace tilescope::flash_v1
