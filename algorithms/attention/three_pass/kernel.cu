// Attention with safe softmax in one kernel on CUDA cores, in fp32. New against standard: S and P stay on chip, but
// every row block reads K three times and computes S three times. V_j takes the place of K_j in shared memory.
// Bound by fp32 arithmetic. With d = dv there are twice flash_v2's FLOPs: expect a little more than twice its time,
// because K_j and V_j wait for their only buffer.
// Run it: tilescope validate three_pass --seq 4096 --heads 64 --dim 64 --dtype f32
#include "algorithms/attention/three_pass/kernel.hpp"
#include "algorithms/cuda/row_statistics.cuh"

namespace tilescope::three_pass {
namespace {

using namespace cuda;

template <int Br, int Bc, int D, int Dv>
__global__ void __launch_bounds__(fp32_threads(Br), 1) safe_softmax_kernel(AttentionArgs a) {
    constexpr int threads = fp32_threads(Br);
    extern __shared__ float4 shared[];
    const SharedTile<Br, D, ReadBy::groups> q{reinterpret_cast<float*>(shared)};
    const SharedTile<Bc, D, ReadBy::lanes> k{q.data + q.size};
    const SharedTile<Bc, Dv, ReadBy::rows> v{k.data};  // in the place of K_j
    const SharedTile<Br, Bc, ReadBy::groups> p{k.data + max(k.size, v.size)};
    const Workload& w = a.work;

    const int head = blockIdx.y, kv = w.kv_slice(head);
    const int i = (gridDim.x - 1 - blockIdx.x) * Br;  // [1] row blocks that see most keys start first
    const int rows = min(Br, w.seq_q - i), end = w.visible_tiles(i + rows, Bc) * Bc;
    const bool active = warp_has_rows(rows);
    const auto keys_of = [&](int j) { return min(Bc, w.seq_k - j); };
    const auto load_keys = [&](int j) { load_async<threads>(k, a.K.row(kv, j), a.K.pitch, keys_of(j)); };
    const auto scores = [&](Scores<Bc>& s, int j) {
        wait_for_loads();  // K_j is here
        if (active) {
            score(s, q, k, keys_of(j), w.scale);
            mask(s, w, i, j, keys_of(j));
        }
        __syncthreads();  // K_j is no longer read
    };

    load_async<threads>(q, a.Q.row(head, i), a.Q.pitch, rows);  // [2]
    if (end > 0) load_keys(0);
    float m = -infinity, l = 0;
    Output<Dv> o;
    o.fill(0);

    for (int j = 0; j < end; j += Bc) {  // [3]
        Scores<Bc> s;
        scores(s, j);
        load_keys(j + Bc < end ? j + Bc : 0);  // the next K_j, or the next pass's first
        if (active) m = fmaxf(m, row_max(s));
    }
    for (int j = 0; j < end; j += Bc) {  // [4]
        Scores<Bc> s;
        scores(s, j);
        load_keys(j + Bc < end ? j + Bc : 0);
        if (active) {
            exp_minus(s, m, keys_of(j));
            l += row_sum(s);
        }
    }
    const float factor = inverse(l);
    for (int j = 0; j < end; j += Bc) {  // [5]
        Scores<Bc> s;
        scores(s, j);
        load_async<threads>(v, a.V.row(kv, j), a.V.pitch, keys_of(j));  // while P is computed
        if (active) {
            exp_minus(s, m, keys_of(j));
            s.scale_rows(factor);
            stage(p, s);
        }
        wait_for_loads();                             // V_j is here
        if (active) accumulate(o, p, v, keys_of(j));  // [6]
        __syncthreads();                              // V_j is no longer read
        if (j + Bc < end) load_keys(j + Bc);
    }
    wait_for_loads();

    if (active) store(o, a.O.row(head, i), a.O.pitch, rows);  // [7]
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        constexpr auto kernel = safe_softmax_kernel<v.tile.br, v.tile.bc, v.dim, v.dim_v>;
        enqueue("three_pass", kernel, grid_of(ceil_div(call.problem.seq_q, v.tile.br), call.problem.batch_heads()),
                v.threads, v.shared(), call.stream, AttentionArgs(call));
    });
}

}  // namespace tilescope::three_pass
