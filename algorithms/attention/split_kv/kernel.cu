// Flash-decoding on CUDA cores, in fp32. New against flash_v2: a thread block takes a part of the keys and writes O_s
// and LSE_s to HBM; kernel_combine.cu adds the parts up. Bound by HBM where there are few rows, and parts for all SMs;
// bound by fp32 arithmetic where there are many rows.
// Run it: tilescope validate split_kv --seq-q 1 --seq-k 8192 --heads 8 --dim 64 --dtype f32 --splits 16
#include "algorithms/attention/split_kv/kernel.hpp"
#include "algorithms/attention/split_kv/kernel_part.cuh"

namespace tilescope::split_kv {
namespace {

using namespace cuda;

// At D = 128, ptxas would spill registers to make room for a third thread block per SM. Shared memory has no room for
// three anyway, so that only one is asked for.
template <int Br, int Bc, int D, int Dv>
__global__ void __launch_bounds__(fp32_threads(Br), D == 128 ? 1 : 0) split_kv_kernel(Args<float> a) {
    constexpr int threads = fp32_threads(Br);
    extern __shared__ float4 shared[];
    const SharedTile<Br, D, ReadBy::groups> q{reinterpret_cast<float*>(shared)};
    const SharedTile<Bc, D, ReadBy::lanes> k{q.data + q.size};
    const SharedTile<Bc, Dv, ReadBy::rows> v{k.data + k.size};
    const SharedTile<Br, Bc, ReadBy::groups> p{v.data + v.size};
    const Workload& w = a.work;
    const Duty<Br, Bc> duty(a);  // [1], [2]
    let_next_launch_come();
    if (duty.begin >= duty.end) return duty.template write_nothing<threads, Dv>(a);
    const int head = duty.head, kv = duty.kv, i = duty.i, rows = duty.rows;
    const bool active = warp_has_rows(rows);
    const auto load_keys = [&](int j) {  // [5]
        load_async<threads>(k, a.K.row(kv, j), a.K.pitch, min(Bc, w.seq_k - j));
    };

    load_async<threads>(q, a.Q.row(head, i), a.Q.pitch, rows);  // [4]
    load_keys(duty.begin);
    Output<Dv> o;
    o.fill(0);
    float l = 0, m = -infinity;

    for (int j = duty.begin; j < duty.end; j += Bc) {
        const int keys = min(Bc, w.seq_k - j);
        wait_for_loads();                                         // K_j is here, and V_(j-1) is no longer read
        load_async<threads>(v, a.V.row(kv, j), a.V.pitch, keys);  // [5] while S is computed
        if (active) {
            Scores<Bc> s;
            score(s, q, k, keys, w.scale);  // [6]
            mask(s, w, i, j, keys);
            const float m_old = m;  // [7]
            m = fmaxf(m, row_max(s));
            const float correction = exponential(m_old - finite(m));
            exp_minus(s, m, keys);
            l = correction * l + row_sum(s);
            o.scale_rows(correction);  // [8]
            stage(p, s);
        }
        wait_for_loads();                          // V_j is here, and K_j is no longer read
        if (j + Bc < duty.end) load_keys(j + Bc);  // [5] while O is updated
        if (active) accumulate(o, p, v, keys);     // [8]
    }

    if (!active) return;
    o.scale_rows(inverse(l));  // [9]
    const float lse = l > 0 ? m + logf(l) : -infinity;
    store(o, duty.output(a), a.O_s.pitch, rows);  // [10]
    if (keeps_first() && kept_row() < rows) duty.lse(a, kept_row()) = lse;
}

void attend(const KernelCall& call) {
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        if constexpr (v.dtype == Dtype::f32)
            enqueue("split_kv", split_kv_kernel<v.tile.br, v.tile.bc, v.dim, v.dim_v>, grid_of_parts(call),
                    fp32_threads(v.tile.br), v.shared(), call.stream, Args<float>(call));
    });
}

}  // namespace

void launch_kernel(const KernelCall& call) {
    call.variant->dtype == Dtype::f32 ? attend(call) : launch_tensor_cores(call);
    if (in_parts(call)) launch_combine(call);
}

}  // namespace tilescope::split_kv
