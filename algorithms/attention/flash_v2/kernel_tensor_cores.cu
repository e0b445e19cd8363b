// FlashAttention-2 on tensor cores, in f16 and bf16: kernel.cu's loops with both products as mma.sync m16n8k16. New
// against kernel.cu: four warps of 32 rows each hold S, P and O in registers alone. An accumulator of S is laid out
// like an operand of the second product, so that P needs no staging. As in kernel.cu, V_j arrives while Q K_j^T is
// computed, and K_(j+1) while P V_j is.
// Bound by the tensor cores at d = 128, and by them and the exponentials at d = 64: expect the speed of the library's
// kernel with the same tiles (docs/validation.md has what was measured).
// Run it: tilescope validate flash_v2 --seq 4096 --heads 64 --dim 128 --dtype f16
#include "algorithms/attention/flash_v2/kernel.hpp"
#include "algorithms/cuda/tensor_core_statistics.cuh"

namespace tilescope::flash_v2 {
namespace {

using namespace cuda;

/// `Keys` is Plain or Masked.
template <class T, class Keys>
struct Args {
    Global<const T> Q, K, V;
    Global<T> O;
    Global<float> LSE;
    Keys seen;
};

constexpr int threads = 128, M = 2;  // a warp owns M x 16 rows
constexpr int warp_rows = 16 * M;

template <class T, class Keys, int Br, int Bc, int D>
__global__ void __launch_bounds__(threads, 2) flash_v2_tensor_core_kernel(Args<T, Keys> a) {
    static_assert(Br == threads / 32 * warp_rows);
    extern __shared__ __align__(1024) uint4 shared[];  // aligned, so that exclusive or finds a piece's address
    const HalfTile<T, Br, D> q{reinterpret_cast<T*>(shared)};
    const HalfTile<T, Bc, D> k{q.data + q.size}, v{k.data + k.size};
    const Workload& w = a.seen.work;
    const float to_log2 = w.scale * 1.44269504f;

    const int head = blockIdx.y, kv = w.kv_slice(head);
    const int i = (gridDim.x - 1 - blockIdx.x) * Br;  // [3] row blocks that see most keys start first
    const int rows = min(Br, w.seq_q - i);
    const Visits visits = a.seen.visits(i, rows, Br, Bc);
    const int row = threadIdx.x / 32 * warp_rows;  // this warp's first row in the block
    const bool active = row < rows;

    const auto load_keys = [&](int j) { load_async<threads>(k, a.K.row(kv, j), min(Bc, w.seq_k - j)); };  // [7]

    load_async<threads>(q, a.Q.row(head, i), rows);  // [4]
    if (visits.first < visits.end) load_keys(a.seen.tile(visits.first) * Bc);
    Accumulators<M, D> o;  // [5]
    o.fill(0);
    float l = 0, m = -infinity;

    const auto step = [&]<bool whole>(int t) {
        const int j = a.seen.tile(t) * Bc;
        const int keys = whole ? Bc : min(Bc, w.seq_k - j);
        wait_for_loads();                              // K_j is here, and V_(j-1) is no longer read
        load_async<threads>(v, a.V.row(kv, j), keys);  // [7] while S is computed
        Operand<M, Bc> p;
        if (active) {
            Accumulators<M, Bc> s;
            if constexpr (whole)
                score(s, q, k, row);  // [8]
            else
                score_masked(s, q, k, row, a.seen, i, j, keys);
            const float m_old = m;  // [9]
            m = fmaxf(m, reduce_rows(s, [](float x, float y) { return fmaxf(x, y); }));
            const float correction = exp2_of((m_old - finite(m)) * to_log2);
            exp_minus(s, m, to_log2, keys);
            l = correction * l + reduce_rows(s, [](float x, float y) { return x + y; });
            scale_rows(o, correction);  // [10]
            p = rounded<T>(s);
        }
        wait_for_loads();                                            // V_j is here, and K_j is no longer read
        if (t + 1 < visits.end) load_keys(a.seen.tile(t + 1) * Bc);  // [7] while O is updated
        if (active) accumulate(o, p, v);                             // [10]
    };
    int t = visits.first;
    for (; t < visits.whole; ++t) step.template operator()<true>(t);  // [6]
    for (; t < visits.end; ++t) step.template operator()<false>(t);
    wait_for_loads();  // [11]

    if (!active) return;
    scale_rows(o, inverse(l));                                                                        // [12]
    const float lse = l > 0 ? m * w.scale + logf(l) : -infinity;                                      // [13]
    store(o, q, row, a.O.row(head, i + row), a.O.pitch, rows - row);                                  // [14]
    if (row + kept_row_of_warp<M>() < rows) *a.LSE.row(head, i + row + kept_row_of_warp<M>()) = lse;  // [15]
}

template <class T, class Keys>
void launch(const KernelCall& call) {
    const auto& t = call.tensors;
    const Args<T, Keys> args{Global<const T>(t["Q"]), Global<const T>(t["K"]), Global<const T>(t["V"]),
                             Global<T>(t["O"]),       Global<float>(t["LSE"]), Keys(call)};
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        if constexpr (v.dtype == (std::is_same_v<T, __half> ? Dtype::f16 : Dtype::bf16)) {
            constexpr auto kernel = flash_v2_tensor_core_kernel<T, Keys, v.tile.br, v.tile.bc, v.dim>;
            enqueue("flash_v2", kernel, grid_of(ceil_div(call.problem.seq_q, v.tile.br), call.problem.batch_heads()),
                    v.threads, v.shared(), call.stream, args);
        }
    });
}

}  // namespace

void launch_tensor_cores(const KernelCall& call) {
    require_positive_scale(call.problem);
    const bool plain = scores_are_plain(call.problem);
    if (call.variant->dtype == Dtype::f16)
        plain ? launch<__half, Plain>(call) : launch<__half, Masked>(call);
    else
        plain ? launch<__nv_bfloat16, Plain>(call) : launch<__nv_bfloat16, Masked>(call);
}

}  // namespace tilescope::flash_v2
