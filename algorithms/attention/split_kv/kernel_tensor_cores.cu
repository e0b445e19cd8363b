// Flash-decoding on tensor cores, in f16 and bf16: flash_v2's loop over a part of the keys, with four warps. New
// against flash_v2: warps may share the keys. With tiles of 64 rows, each warp has 16 rows and all keys. With tiles of
// 16 rows, for decoding, each warp has a quarter of a tile's keys: it loads them by itself, without a barrier of the
// thread block, and keeps an m, l and O of its own. The four are merged when the part ends. The load of K_(j+1) starts
// as soon as S_j is computed, that of V_(j+1) as soon as O is updated, so that loads are always in flight. Bound by HBM
// where K and V are not in L2 and there are parts enough for all SMs.
// Run it: tilescope validate split_kv --seq-q 1 --seq-k 8192 --heads 8 --dim 128 --dtype f16 --splits 16
#include "algorithms/attention/split_kv/kernel.hpp"
#include "algorithms/attention/split_kv/kernel_part.cuh"
#include "algorithms/cuda/tensor_core_statistics.cuh"

namespace tilescope::split_kv {
namespace {

using namespace cuda;

constexpr int threads = tensor_core_threads, warps = threads / 32, M = 1, warp_rows = 16;
constexpr auto greater = [](float x, float y) { return fmaxf(x, y); };
constexpr auto plus = [](float x, float y) { return x + y; };

/// The rows and keys of a Br x Bc tile that a warp has: 16 rows and all keys, or all rows and a quarter of the keys.
template <int Br, int Bc>
struct Warp {
    static constexpr bool along_keys = Br == warp_rows;
    static constexpr int keys = along_keys ? Bc / warps : Bc;
    static_assert(along_keys || Br == warps * warp_rows);
    int number = threadIdx.x / 32, row = along_keys ? 0 : number * warp_rows, key = along_keys ? number * keys : 0;

    /// The warp's keys of a tile.
    template <class T, int D>
    __device__ HalfTile<T, keys, D> own(const HalfTile<T, Bc, D>& tile) const {
        return {tile.data + key * D};
    }
    /// How many of the warp's keys exist where the tile has `of_tile` keys.
    __device__ int existing(int of_tile) const { return min(keys, of_tile - key); }
    /// Starts to load a tile whose first `rows` rows exist, or the warp's own keys of that tile, as one batch.
    template <class T, int D>
    __device__ void load_batch(const HalfTile<T, Bc, D>& tile, const T* from, int rows) const {
        if constexpr (!along_keys)
            load_async<threads>(tile, from, rows);
        else if (existing(rows) > 0)
            load_async<32>(own(tile), from + key * D, existing(rows), threadIdx.x % 32);
        end_batch();
    }
    /// A barrier of the threads that load keys for one another: the warp, or the thread block.
    __device__ static void wait() { along_keys ? __syncwarp() : __syncthreads(); }
};

/// O, l and m of a warp's 16 rows.
template <int D>
struct State {
    Accumulators<M, D> o;
    float l = 0, m = -infinity;

    /// Updates m, l and O by the scores of a tile, and returns P. The caller adds P V to O.
    template <class T, int keys>
    __device__ Operand<M, keys> update(Accumulators<M, keys>& s, float to_log2, int existing) {
        const float m_old = m;  // [7]
        m = fmaxf(m, reduce_rows(s, greater));
        const float correction = exp2_of((m_old - finite(m)) * to_log2);
        exp_minus(s, m, to_log2, existing);
        l = correction * l + reduce_rows(s, plus);
        scale_rows(o, correction);  // [8]
        return rounded<T>(s);
    }
};

/// Stores the LSE_s that this lane keeps. `row` is the warp's first row.
template <class T, class Out, int Br, int Bc>
__device__ inline void store_lse(float lse, int row, const Duty<Br, Bc>& duty, const Args<T, Out>& a) {
    const int kept = row + kept_row_of_warp<M>();
    if (quad_lane() < 2 * M && kept < duty.rows) duty.lse(a, kept) = lse;
}

/// [10] Stores a warp's own rows of O_s, from `row` on. A quad's 32 bytes of a row are a sector.
template <class T, int Br, int Bc, int D>
__device__ inline void store_own(const State<D>& state, const HalfTile<T, Br, D>&, int row, const Duty<Br, Bc>& duty,
                                 const Args<T>& a) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int r = row + 8 * half + lane / 4;
        float* const to = duty.output(a) + std::int64_t{r} * a.O_s.pitch + lane % 4 * 2;
#pragma unroll
        for (int nt = 0; nt < D / 8; ++nt)
            if (r < duty.rows)
                store_wide(to + 8 * nt, float2{state.o.at[0][nt][2 * half], state.o.at[0][nt][2 * half + 1]});
    }
}
/// [16] Stores a warp's own rows of O, where there is only one part. They go through the warp's own rows of Q_i in
/// shared memory, which are no longer read.
template <class T, int Br, int Bc, int D>
__device__ inline void store_own(const State<D>& state, const HalfTile<T, Br, D>& q, int row, const Duty<Br, Bc>& duty,
                                 const Args<T, T>& a) {
    store(state.o, q, row, duty.output(a) + std::int64_t{row} * a.O_s.pitch, a.O_s.pitch, duty.rows - row);
}

/// Lines 9 and 10 for a warp's own rows, from `row` on.
template <class T, class Out, int Br, int Bc, int D>
__device__ inline void write_own(State<D>& state, const HalfTile<T, Br, D>& q, int row, const Duty<Br, Bc>& duty,
                                 const Args<T, Out>& a) {
    scale_rows(state.o, inverse(state.l));
    store_own(state, q, row, duty, a);
    store_lse(state.l > 0 ? state.m * a.work.scale + logf(state.l) : -infinity, row, duty, a);
}

/// m and l of each warp, for the 16 rows that four warps share.
struct Statistics {
    float m[warps][warp_rows], l[warps][warp_rows];
};

/// Replaces a row's l by the factors of the warps' O in O_s. Returns LSE_s.
__device__ inline float weigh(Statistics& all, int row, float scale) {
    const float to_log2 = scale * 1.44269504f;
    float m = -infinity, l = 0, factor[warps];
#pragma unroll
    for (int k = 0; k < warps; ++k) m = fmaxf(m, all.m[k][row]);
#pragma unroll
    for (int k = 0; k < warps; ++k) {
        factor[k] = exp2_of((all.m[k][row] - finite(m)) * to_log2);
        l += factor[k] * all.l[k][row];
    }
#pragma unroll
    for (int k = 0; k < warps; ++k) all.l[k][row] = factor[k] * inverse(l);
    return l > 0 ? m * scale + logf(l) : -infinity;
}

/// Lines 9 and 10 for rows that four warps share. Each warp writes its O to shared memory in the place of its own keys:
/// eight rows where K_j was, and eight where V_j was.
template <class T, class Out, int Br, int Bc, int D>
__device__ inline void write_merged(const State<D>& state, const HalfTile<T, Bc, D>& k, const HalfTile<T, Bc, D>& v,
                                    const Duty<Br, Bc>& duty, const Args<T, Out>& a) {
    constexpr int own = Warp<Br, Bc>::keys * D;
    using Rows = SharedTile<warp_rows / 2, D, ReadBy::lanes>;
    static_assert(Rows::size * sizeof(float) <= own * sizeof(T));
    __shared__ Statistics all;
    const auto rows_of = [&](int warp, int half) {
        return Rows{reinterpret_cast<float*>((half == 0 ? k : v).data + warp * own)};
    };
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, kept = kept_row_of_warp<M>();
    if (quad_lane() < 2 * M) all.m[warp][kept] = state.m, all.l[warp][kept] = state.l;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (8 * half + lane / 4 >= duty.rows) break;
#pragma unroll
        for (int nt = 0; nt < D / 8; ++nt)
            *reinterpret_cast<float2*>(&rows_of(warp, half).at(lane / 4, 8 * nt + lane % 4 * 2)) =
                float2{state.o.at[0][nt][2 * half], state.o.at[0][nt][2 * half + 1]};
    }
    __syncthreads();
    if (const int r = threadIdx.x; r < duty.rows) duty.lse(a, r) = weigh(all, r, a.work.scale);
    __syncthreads();
    for (int piece = threadIdx.x; piece < duty.rows * Rows::pieces; piece += threads) {
        const int r = piece / Rows::pieces, c = piece % Rows::pieces;
        float4 sum = {};
#pragma unroll
        for (int w = 0; w < warps; ++w) {
            const float4 x = rows_of(w, r / 8).piece(r % 8, c);
            const float factor = all.l[w][r];
            sum.x += factor * x.x, sum.y += factor * x.y, sum.z += factor * x.z, sum.w += factor * x.w;
        }
        store_four(duty.output(a) + std::int64_t{r} * a.O_s.pitch + 4 * c, sum);
    }
}

/// Thread blocks per SM for __launch_bounds__: as many as registers allow without spills.
constexpr int blocks_wanted(int br, int d) { return br == warp_rows ? (d == 64 ? 5 : 4) : 2; }

template <class T, class Out, int Br, int Bc, int D>
__global__ void __launch_bounds__(threads, blocks_wanted(Br, D)) split_kv_tensor_core_kernel(Args<T, Out> a) {
    extern __shared__ __align__(1024) uint4 shared[];  // aligned, so that exclusive or finds a piece's address
    const HalfTile<T, Br, D> q{reinterpret_cast<T*>(shared)};
    const HalfTile<T, Bc, D> k{q.data + q.size}, v{k.data + k.size};
    const Workload& w = a.work;
    const Duty<Br, Bc> duty(a);  // [1], [2]
    let_next_launch_come();
    if (duty.begin >= duty.end) return duty.template write_nothing<threads, D>(a);
    const Warp<Br, Bc> warp;
    const int head = duty.head, kv = duty.kv, i = duty.i, rows = duty.rows, row = warp.row;
    const float to_log2 = w.scale * 1.44269504f;
    const auto load_keys = [&](int j) { warp.load_batch(k, a.K.row(kv, j), min(Bc, w.seq_k - j)); };    // [5]
    const auto load_values = [&](int j) { warp.load_batch(v, a.V.row(kv, j), min(Bc, w.seq_k - j)); };  // [5]

    load_async<threads>(q, a.Q.row(head, i), rows);  // [4]
    end_batch();
    load_keys(duty.begin);
    load_values(duty.begin);
    State<D> state;
    state.o.fill(0);
    wait_for_all_but<2>();
    __syncthreads();  // Q_i is here

    const auto step = [&]<bool whole>(int j) {
        const int keys = whole ? warp.keys : warp.existing(w.seq_k - j);
        const bool active = row < rows && (whole || keys > 0);
        const bool more = j + Bc < duty.end;
        Accumulators<M, warp.keys> s;
        Operand<M, warp.keys> p;
        wait_for_all_but<1>();
        warp.wait();                                // K_j is here
        if (active) score(s, q, warp.own(k), row);  // [6]
        warp.wait();                                // K_j is no longer read
        more ? load_keys(j + Bc) : end_batch();
        if (active && !whole) mask(s, w, i + row, j + warp.key, keys);
        if (active) p = state.template update<T>(s, to_log2, keys);  // [7], [8]
        wait_for_all_but<1>();
        warp.wait();                                      // V_j is here
        if (active) accumulate(state.o, p, warp.own(v));  // [8]
        warp.wait();                                      // V_j is no longer read
        more ? load_values(j + Bc) : end_batch();
    };
    const int seen_by_all = min(i + w.diagonal + 1, w.seq_k);  // keys that need no mask
    int j = duty.begin;
    for (; j < duty.end && j + Bc <= seen_by_all; j += Bc) step.template operator()<true>(j);
    for (; j < duty.end; j += Bc) step.template operator()<false>(j);

    if constexpr (warp.along_keys)
        write_merged(state, k, v, duty, a);
    else if (row < rows)
        write_own(state, q, row, duty, a);
}

template <class T, class Out>
void launch(const KernelCall& call) {
    dispatch<kernels>(call, [&]<std::size_t I>() {
        constexpr KernelVariant v = kernels[I];
        if constexpr (v.dtype == (std::is_same_v<T, __half> ? Dtype::f16 : Dtype::bf16))
            enqueue("split_kv", split_kv_tensor_core_kernel<T, Out, v.tile.br, v.tile.bc, v.dim>, grid_of_parts(call),
                    v.threads, v.shared(), call.stream, Args<T, Out>(call));
    });
}
template <class T>
void launch(const KernelCall& call) {
    in_parts(call) ? launch<T, float>(call) : launch<T, T>(call);
}

}  // namespace

void launch_tensor_cores(const KernelCall& call) {
    require_positive_scale(call.problem);
    call.variant->dtype == Dtype::f16 ? launch<__half>(call) : launch<__nv_bfloat16>(call);
}

}  // namespace tilescope::split_kv
