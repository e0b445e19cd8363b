// FlashAttention-2's backward pass on tensor cores, in f16 and bf16. A thread block keeps 128 keys; its eight warps own
// 16 each. A warp computes S^T and dP^T of its keys and a row block, so that P^T and dS^T are in registers as operands
// of the products dV_j += P^T dO_i and dK_j += dS^T Q_i. Only dS goes through shared memory, because dQ_i needs dS of
// all keys. dQ_i is computed in the next iteration, beside the next rows' scores and the loads of the rows after these.
//
// The bandwidth of shared memory is the limit: an operand that a warp reads from there serves only its 16 keys.
// Run it: tilescope validate flash_v2_backward --seq 4096 --heads 16 --dim 64 --dtype f16
#include "algorithms/attention_backward/flash_v2_backward/kernel.hpp"
#include "algorithms/cuda/gradient_args.cuh"
#include "algorithms/cuda/row_products.cuh"
#include "algorithms/cuda/tensor_core_statistics.cuh"

namespace tilescope::flash_v2_backward {
namespace {

using namespace cuda;

constexpr int warps = 8, threads = 32 * warps;

/// The tiles of a row block in shared memory. There are two of these: for a row block, and for the next one.
template <class T, int Br, int D>
struct Rows {
    HalfTile<T, Br, D> q, g;  ///< g: dO
    float *lse, *d;

    __device__ void load(const BackwardArgs<T>& a, int head, int i) const {
        const int rows = min(Br, a.work.seq_q - i);
        load_async<threads>(q, a.Q.row(head, i), rows);
        load_async<threads>(g, a.dO.row(head, i), rows);
        load_column(lse, a.LSE.row(head, i), rows, 0);
        load_column(d, a.D.row(head, i), rows, 1);
    }

  private:
    /// The threads of warp number `warp` load a column of Br numbers.
    __device__ static void load_column(float* to, const float* from, int rows, unsigned warp) {
        const int k = static_cast<int>(threadIdx.x - 32 * warp);
        if (k < 0 || k >= Br / 4) return;
        const int valid = min(max(rows - 4 * k, 0), 4);
        if (valid == 0 || valid == 4)
            copy_async(to + 4 * k, valid > 0 ? from + 4 * k : from, 4 * valid);
        else  // not copied whole: what follows the last row may never have been written
            for (int e = 0; e < 4; ++e) to[4 * k + e] = e < valid ? load_past_l1(from + 4 * k + e) : 0.f;
    }
};

/// P^T = exp(scale S^T - LSE) of the 16 keys from `key` on, and the Br rows from `row` on. In a whole tile every row
/// sees every key.
template <int Br>
__device__ inline void probabilities(Accumulators<1, Br>& s, const float* lse, const Workload& w, int key, int row,
                                     bool whole) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int nt = 0; nt < Br / 8; ++nt) {
        const float2 of = *reinterpret_cast<const float2*>(lse + 8 * nt + lane % 4 * 2);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            float& x = s.at[0][nt][e];
            x = exponential(fmaf(x, w.scale, e % 2 ? -of.y : -of.x));  // argument near 0 where P is large: little lost
        }
    }
    if (whole) return;
#pragma unroll
    for (int nt = 0; nt < Br / 8; ++nt)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const int k = key + e / 2 * 8 + lane / 4, r = row + 8 * nt + lane % 4 * 2 + e % 2;
            if (k >= w.seq_k || k > r + w.diagonal) s.at[0][nt][e] = 0;
        }
}

/// dS^T = P^T * (dP^T - D), in place: `dp` becomes dS^T.
template <int Br>
__device__ inline void score_gradients(Accumulators<1, Br>& dp, const Accumulators<1, Br>& p, const float* d) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int nt = 0; nt < Br / 8; ++nt) {
        const float2 of = *reinterpret_cast<const float2*>(d + 8 * nt + lane % 4 * 2);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            float& x = dp.at[0][nt][e];
            x = p.at[0][nt][e] * (x - (e % 2 ? of.y : of.x));
        }
    }
}

/// Writes an operand to the warp's 16 rows of a tile, from `row` on.
template <class T, int Br, int Bc>
__device__ inline void stage(const HalfTile<T, Bc, Br>& tile, const Operand<1, Br>& s, int row) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < Br / 16; ++k)
#pragma unroll
        for (int part = 0; part < 4; ++part)
            *reinterpret_cast<unsigned*>(tile.piece(row + part % 2 * 8 + lane / 4, 2 * k + part / 2) + lane % 4 * 4) =
                s.at[0][k][part];
}

/// X += dS K, for 16 rows from `row` on and N columns from `col` on, over all keys of the tiles. `ds` has dS^T.
template <class T, int Br, int Bc, int D, int N>
__device__ inline void accumulate_transposed(Accumulators<1, N>& x, const HalfTile<T, Bc, Br>& ds,
                                             const HalfTile<T, Bc, D>& k, int row, int col) {
    const int lane = threadIdx.x % 32;
    const unsigned first_s = ds.address() + ds.offset(lane / 16 * 8 + lane % 8, row / 8 + lane / 8 % 2);
    const unsigned first_k = k.address() + k.offset(lane % 16, col / 8 + lane / 16);
#pragma unroll
    for (int step = 0; step < Bc / 16; ++step) {
        unsigned a[4];
        ldmatrix_transposed(a, first_s + step * 16 * ds.row_bytes);
#pragma unroll
        for (int n = 0; n < N / 16; ++n) {
            unsigned b[4];
            ldmatrix_transposed(b, (first_k ^ (n << 5)) + step * 16 * k.row_bytes);
            mma<T>(x.at[0][2 * n], a, b[0], b[1]);
            mma<T>(x.at[0][2 * n + 1], a, b[2], b[3]);
        }
    }
}

/// Adds factor X to the first `rows` rows in HBM by reductions.
template <int N>
__device__ inline void reduce_add(const Accumulators<1, N>& x, float factor, float* to, int pitch, int rows) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int r = 8 * half + lane / 4;
        if (r >= rows) continue;
#pragma unroll
        for (int nt = 0; nt < N / 8; ++nt)
            add_wide(to + std::int64_t{r} * pitch + 8 * nt + lane % 4 * 2,
                     float2{factor * x.at[0][nt][2 * half], factor * x.at[0][nt][2 * half + 1]});
    }
}

template <class T, int Br, int Bc, int D>
__global__ void __launch_bounds__(threads, 1) keys_kernel(BackwardArgs<T> a) {
    static_assert(Bc == 16 * warps && Br == 64);
    extern __shared__ float4 shared[];
    const HalfTile<T, Bc, D> k{reinterpret_cast<T*>(shared)}, v{k.data + k.size};
    T* const streamed = v.data + v.size;
    constexpr int rows_size = Br * D;
    T* const staged = streamed + 4 * rows_size;
    float* const statistics = reinterpret_cast<float*>(staged + 2 * Bc * Br);
    const auto rows_at = [&](int turn) {
        T* const from = streamed + turn * 2 * rows_size;
        return Rows<T, Br, D>{{from}, {from + rows_size}, statistics + turn * 2 * Br, statistics + turn * 2 * Br + Br};
    };
    const auto ds_at = [&](int turn) { return HalfTile<T, Bc, Br>{staged + turn * Bc * Br}; };

    const Workload& w = a.work;
    const int kv = blockIdx.y, j = blockIdx.x * Bc, keys = min(Bc, w.seq_k - j);
    const int warp = threadIdx.x / 32, own = 16 * warp;  // this warp's first key
    const int first = w.first_seeing(j, Br) * Br;
    const int visits = first < w.seq_q ? (w.seq_q - first + Br - 1) / Br : 0;  // of each head
    const int whole_from = max(j + Bc - 1 - w.diagonal, 0);                    // rows from here on see all keys

    const auto add_query_gradients = [&](int turn, int head, int i) {
        const int row = warp % 4 * 16, col = warp / 4 * (D / 2);  // this warp's part of dQ_i
        Accumulators<1, D / 2> dq;
        dq.fill(0);
        accumulate_transposed(dq, ds_at(turn), k, row, col);
        reduce_add(dq, w.scale, a.dQ.row(head, i + row) + col, a.dQ.pitch, w.seq_q - i - row);
    };

    Accumulators<1, D> dk, dv;
    dk.fill(0);
    dv.fill(0);
    int head = kv * a.group, i = first, turn = 0;
    if (visits > 0) {
        load_async<threads>(k, a.K.row(kv, j), keys);
        load_async<threads>(v, a.V.row(kv, j), keys);
        rows_at(0).load(a, head, i);
    }
    int head_before = 0, i_before = 0;
    for (int visit = 0; visit < visits * a.group; ++visit, turn ^= 1) {
        const Rows<T, Br, D> rows = rows_at(turn);
        const int this_head = head, this_i = i;
        wait_for_loads();  // these rows are here, and so is dS of the rows before, whose tiles are no longer read
        i += Br;
        if (i >= w.seq_q) i = first, ++head;
        if (visit + 1 < visits * a.group) rows_at(turn ^ 1).load(a, head, i);
        if (visit > 0) add_query_gradients(turn ^ 1, head_before, i_before);

        Accumulators<1, Br> p, s;
        score(p, k, rows.q, own);
        probabilities(p, rows.lse, w, j + own, this_i, this_i >= whole_from && keys == Bc);
        accumulate(dv, rounded<T>(p), rows.g);
        score(s, v, rows.g, own);
        score_gradients(s, p, rows.d);
        const Operand<1, Br> operand = rounded<T>(s);
        stage(ds_at(turn), operand, own);
        accumulate(dk, operand, rows.q);
        head_before = this_head, i_before = this_i;
    }
    __syncthreads();  // dS of the last rows is here
    if (visits > 0) add_query_gradients(turn ^ 1, head_before, i_before);

#pragma unroll
    for (int nt = 0; nt < D / 8; ++nt)
#pragma unroll
        for (int e = 0; e < 4; ++e) dk.at[0][nt][e] *= w.scale;
    __syncthreads();  // K_j and V_j are no longer read
    store(dk, k, own, a.dK.row(kv, j + own), a.dK.pitch, keys - own);
    store(dv, v, own, a.dV.row(kv, j + own), a.dV.pitch, keys - own);
}

template <class T, const KernelVariant& v>
void launch(const KernelCall& call) {
    const Problem& p = call.problem;
    const BackwardArgs<T> args(call, "dQ~");
    enqueue_row_products<T, v>(call, args.dQ);
    enqueue("keys", keys_kernel<T, v.tile.br, v.tile.bc, v.dim>, grid_of(ceil_div(p.seq_k, v.tile.bc), p.kv_slices()),
            v.threads, v.shared(), call.stream, args);
    enqueue_sums<T, v>("convert", call);
}

}  // namespace

void launch_tensor_cores(const KernelCall& call) {
    dispatch<kernels>(call, [&]<std::size_t I>() {
        static constexpr KernelVariant v = kernels[I];
        if constexpr (v.dtype == Dtype::f16) launch<__half, v>(call);
        if constexpr (v.dtype == Dtype::bf16) launch<__nv_bfloat16, v>(call);
    });
}

}  // namespace tilescope::flash_v2_backward
