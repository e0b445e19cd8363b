// What fp32 kernels of backward passes that recompute P have in common: the tiles of P and dS, and the loop of a key
// block over all rows that see it. A thread owns 8 rows of queries in a tile of scores, and 8 keys in dK_j and dV_j.
#pragma once

#include "algorithms/cuda/backward_variants.hpp"
#include "algorithms/cuda/gradient_args.cuh"
#include "algorithms/cuda/row_products.cuh"
#include "algorithms/cuda/row_statistics.cuh"

namespace tilescope::cuda {

/// X += W^T Y over the first `rows` rows of both.
template <int unrolled, int Br, int Bc, int D>
__device__ inline void accumulate_transposed(Output<D>& x, const SharedTile<Br, Bc, ReadBy::groups>& w,
                                             const SharedTile<Br, D, ReadBy::groups>& y, int rows) {
    constexpr int C = Output<D>::C, V = Output<D>::V;
    static_assert(R == 8);
#pragma unroll unrolled
    for (int k = 0; k < rows; ++k) {
        float b[C];
#pragma unroll
        for (int j = 0; j < C; j += V) {
            const float* const from = &y.at(k, Output<D>::col(j));
#pragma unroll
            for (int e = 0; e < V; e += 2) {
                const float2 two = *reinterpret_cast<const float2*>(from + e);
                b[j + e] = two.x, b[j + e + 1] = two.y;
            }
        }
        const float4 low = w.piece(k, first_row() / 4), high = w.piece(k, first_row() / 4 + 1);
        const float a[R] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (int i = 0; i < R; ++i)
#pragma unroll
            for (int j = 0; j < C; ++j) x.at[i][j] = fmaf(a[i], b[j], x.at[i][j]);
    }
}

/// The tiles of a thread block in shared memory. Large dK_j and dV_j leave few registers for the products. Where a
/// thread block takes several key blocks in turn (`in_turn`), addresses take more registers: loops are unrolled less.
template <int B, int D, int Dv, bool in_turn = false>
struct BackwardTiles {
    static constexpr bool large = D + Dv > 128;
    static constexpr int unrolled = large || in_turn ? 1 : 4, unrolled_loads = in_turn ? 1 : 4;
    static constexpr int query_cols = D <= 32 ? D : in_turn ? 32 : large ? D / 2 : D;  ///< columns of dQ_i at once
    SharedTile<B, D, ReadBy::groups> q;
    SharedTile<B, Dv, ReadBy::groups> g;  ///< dO
    SharedTile<B, D, ReadBy::lanes> k;
    SharedTile<B, Dv, ReadBy::lanes> v;
    SharedTile<B, B, ReadBy::groups> scores;

    __device__ explicit BackwardTiles(float4* shared)
        : q{reinterpret_cast<float*>(shared)},
          g{q.data + q.size},
          k{g.data + g.size},
          v{k.data + k.size},
          scores{v.data + v.size} {}

    __device__ void load_rows(const GradientArgs<float>& a, int head, int i, int rows) const {
        load_async<fp32_threads(B), unrolled_loads>(q, a.Q.row(head, i), a.Q.pitch, rows);
        load_async<fp32_threads(B), unrolled_loads>(g, a.dO.row(head, i), a.dO.pitch, rows);
    }
    __device__ void load_keys(const GradientArgs<float>& a, int kv, int j, int keys) const {
        load_async<fp32_threads(B), unrolled_loads>(k, a.K.row(kv, j), a.K.pitch, keys);
        load_async<fp32_threads(B), unrolled_loads>(v, a.V.row(kv, j), a.V.pitch, keys);
    }
    /// P = exp(scale Q_i K_j^T - LSE_i).
    __device__ void probabilities(Scores<B>& s, const Workload& w, float lse, int i, int j, int keys) const {
        score<unrolled>(s, q, k, keys, w.scale);
        mask(s, w, i, j, keys);
        exp_minus(s, lse, keys);
    }
    /// P becomes scale dS = scale P * (dO_i V_j^T - D_i).
    __device__ void score_gradients(Scores<B>& p, const Workload& w, float d, int keys) const {
        Scores<B> s;
        score<unrolled>(s, g, v, keys, 1);
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const float row = spread(d, i);
#pragma unroll
            for (int j = 0; j < Scores<B>::C; ++j)
                if (L * j < keys) p.at[i][j] *= w.scale * (s.at[i][j] - row);
        }
    }
};

/// Stores dK_j and dV_j of the key block from key j on: sums over the query heads that share the head of K and V, and
/// over their row blocks that see the key block. Calls with(tiles, head, i, rows, keys) while scale dS is staged.
template <int B, int D, int Dv, bool in_turn = false, class With>
__device__ inline void key_block(const BackwardArgs<float>& a, float4* shared, int j, With with) {
    const BackwardTiles<B, D, Dv, in_turn> tiles(shared);
    const Workload& w = a.work;
    const int kv = blockIdx.y, keys = min(B, w.seq_k - j);
    const int first = w.first_seeing(j, B) * B;
    Output<D> dk;
    Output<Dv> dv;
    dk.fill(0);
    dv.fill(0);
    if (first < w.seq_q) tiles.load_keys(a, kv, j, keys);  // two ifs: with one, the compiler spills registers
    if (first < w.seq_q)
        for (int head = kv * a.group, i = first; head < (kv + 1) * a.group;) {
            const int rows = min(B, w.seq_q - i);
            tiles.load_rows(a, head, i, rows);
            const Pair statistics = load_pair(a.LSE.row(head, i), a.D.row(head, i), rows);
            wait_for_loads();
            Scores<B> s;
            const bool active = warp_has_rows(rows);
            if (active) {
                tiles.probabilities(s, w, statistics.first, i, j, keys);
                stage(tiles.scores, s);
            }
            __syncthreads();  // P is here
            accumulate_transposed<tiles.unrolled>(dv, tiles.scores, tiles.g, rows);
            if (active) tiles.score_gradients(s, w, statistics.second, keys);
            __syncthreads();  // P is no longer read
            if (active) stage(tiles.scores, s);
            __syncthreads();  // dS is here
            with(tiles, head, i, rows, keys);
            accumulate_transposed<tiles.unrolled>(dk, tiles.scores, tiles.q, rows);
            __syncthreads();  // the tiles of these rows are no longer read
            i += B;
            if (i >= w.seq_q) i = first, ++head;
        }
    store(dk, a.dK.row(kv, j), a.dK.pitch, keys);
    store(dv, a.dV.row(kv, j), a.dV.pitch, keys);
}

/// key_block() that also adds scale dS K_j to `a.dQ` by reductions. Row `first` of `a.dQ` is that of query 0.
template <int B, int D, int Dv, bool in_turn = false>
__device__ inline void key_block_adding_queries(const BackwardArgs<float>& a, float4* shared, int j, int first = 0) {
    key_block<B, D, Dv, in_turn>(a, shared, j, [&](const auto& tiles, int head, int i, int rows, int keys) {
        if (!warp_has_rows(rows)) return;
        constexpr int cols = BackwardTiles<B, D, Dv, in_turn>::query_cols;
#pragma unroll 1
        for (int c = 0; c < D; c += cols) {
            Output<cols> dq;
            dq.fill(0);
            accumulate(dq, tiles.scores, tiles.k, keys, c);
            reduce_add(dq, a.dQ.row(head, first + i) + c, a.dQ.pitch, rows);
        }
    });
}

}  // namespace tilescope::cuda
