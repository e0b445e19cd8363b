// A thread's part of a tile of scores or of outputs: the two matrix products, the mask, loads and stores.
#pragma once

#include "algorithms/cuda/seen.cuh"
#include "algorithms/cuda/shared_tiles.cuh"

namespace tilescope::cuda {

/// This thread's part of a score tile: rows first_row() + i, columns lane() + 16 j.
template <int Bc>
struct Scores {
    static constexpr int C = Bc / L;
    float at[R][C];

    __device__ static int col(int j) { return lane() + L * j; }
    /// Multiplies row i by the factor that lane i keeps.
    __device__ void scale_rows(float factor) {
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const float f = __shfl_sync(~0u, factor, i, L);
#pragma unroll
            for (int j = 0; j < C; ++j) at[i][j] *= f;
        }
    }
};

/// This thread's part of an output tile: rows first_row() + i, columns col(j).
template <int Dv>
struct Output {
    static constexpr int C = Dv / L, V = C < 4 ? C : 4;  ///< V neighbouring columns make one store
    float at[R][C];

    __device__ static int col(int j) { return (j / V) * V * L + lane() * V + j % V; }
    __device__ void fill(float x) {
#pragma unroll
        for (int i = 0; i < R; ++i)
#pragma unroll
            for (int j = 0; j < C; ++j) at[i][j] = x;
    }
    /// Multiplies row i by the factor that lane i keeps.
    __device__ void scale_rows(float factor) {
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const float f = __shfl_sync(~0u, factor, i, L);
#pragma unroll
            for (int j = 0; j < C; ++j) at[i][j] *= f;
        }
    }
};

__device__ inline void multiply_add(float& sum, float4 a, float4 b) {
    sum = fmaf(a.x, b.x, sum);
    sum = fmaf(a.y, b.y, sum);
    sum = fmaf(a.z, b.z, sum);
    sum = fmaf(a.w, b.w, sum);
}

/// S = scale Q K^T for the first `keys` keys, in steps of 16 columns; columns beyond these steps are 0.
template <int unrolled = 4, int Br, int Bc, int D>
__device__ inline void score(Scores<Bc>& s, const SharedTile<Br, D, ReadBy::groups>& q,
                             const SharedTile<Bc, D, ReadBy::lanes>& k, int keys, float scale) {
    const auto columns = [&](int from, int to) {
#pragma unroll unrolled
        for (int c = 0; c < D / 4; ++c) {
            float4 b[Scores<Bc>::C];
#pragma unroll
            for (int j = 0; j < Scores<Bc>::C; ++j)
                if (from <= j && j < to) b[j] = k.piece(lane() + L * j, c);
#pragma unroll
            for (int i = 0; i < R; ++i) {
                const float4 a = q.piece(first_row() + i, c);
#pragma unroll
                for (int j = 0; j < Scores<Bc>::C; ++j)
                    if (from <= j && j < to) multiply_add(s.at[i][j], a, b[j]);
            }
        }
    };
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
        for (int j = 0; j < Scores<Bc>::C; ++j) s.at[i][j] = 0;
    if (keys == Bc) {
        columns(0, Scores<Bc>::C);
    } else {
#pragma unroll
        for (int j = 0; j < Scores<Bc>::C; ++j)
            if (L * j < keys) columns(j, j + 1);
    }
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
        for (int j = 0; j < Scores<Bc>::C; ++j) s.at[i][j] = __fmul_rn(s.at[i][j], scale);  // not fused with S - m
}

/// O += P V over the first `keys` keys. The loop takes 4 keys at a time: elements of P beyond `keys`, up to a multiple
/// of 4, have to be 0. O comes from Dv columns of V, from column `col` on.
template <int Br, int Bc, int Dv, int Cols, ReadBy by>
__device__ inline void accumulate(Output<Dv>& o, const SharedTile<Br, Bc, ReadBy::groups>& p,
                                  const SharedTile<Bc, Cols, by>& v, int keys, int col = 0) {
    constexpr int C = Output<Dv>::C, V = Output<Dv>::V;
#pragma unroll 2
    for (int k4 = 0; k4 < (keys + 3) / 4; ++k4) {
        float b[4][C];
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
            for (int j = 0; j < C; j += V) {
                const float* from = &v.at(4 * k4 + k, col + Output<Dv>::col(j));
                if constexpr (V == 4) {
                    const float4 x = *reinterpret_cast<const float4*>(from);
                    b[k][j] = x.x, b[k][j + 1] = x.y, b[k][j + 2] = x.z, b[k][j + 3] = x.w;
                } else {
                    const float2 x = *reinterpret_cast<const float2*>(from);
                    b[k][j] = x.x, b[k][j + 1] = x.y;
                }
            }
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const float4 a = p.piece(first_row() + i, k4);
#pragma unroll
            for (int j = 0; j < C; ++j) {
                o.at[i][j] = fmaf(a.x, b[0][j], o.at[i][j]);
                o.at[i][j] = fmaf(a.y, b[1][j], o.at[i][j]);
                o.at[i][j] = fmaf(a.z, b[2][j], o.at[i][j]);
                o.at[i][j] = fmaf(a.w, b[3][j], o.at[i][j]);
            }
        }
    }
}

/// Scores of keys that do not exist or that causality hides become -inf. `row` and `key`: where the tile begins.
template <int Bc>
__device__ inline void mask(Scores<Bc>& s, const Workload& w, int row, int key, int keys) {
    if (keys == Bc && key + Bc - 1 <= row + w.diagonal) return;  // the whole tile is seen
#pragma unroll
    for (int i = 0; i < R; ++i) {
        const int seen = min(keys, row + first_row() + i + w.diagonal - key + 1);
#pragma unroll
        for (int j = 0; j < Scores<Bc>::C; ++j)
            if (Scores<Bc>::col(j) >= seen) s.at[i][j] = -infinity;
    }
}

template <int Bc>
__device__ inline void mask(Scores<Bc>& s, const Plain& plain, int row, int key, int keys) {
    mask(s, plain.work, row, key, keys);
}
/// Scores of rows or keys that do not exist, or that `m` hides, become -inf.
template <int Bc>
__device__ inline void mask(Scores<Bc>& s, const Masked& m, int row, int key, int /*keys*/) {
#pragma unroll
    for (int i = 0; i < R; ++i) {
        const int r = row + first_row() + i;
#pragma unroll
        for (int j = 0; j < Scores<Bc>::C; ++j)
            if (!m.sees(r, key + Scores<Bc>::col(j))) s.at[i][j] = -infinity;
    }
}

/// Writes P to shared memory for the second product. O += P V reads a row of P in the warp that wrote it, so that a
/// barrier of the warp is enough. A product with P^T needs a barrier of the thread block.
template <int Br, int Bc>
__device__ inline void stage(const SharedTile<Br, Bc, ReadBy::groups>& tile, const Scores<Bc>& p) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
        for (int j = 0; j < Scores<Bc>::C; ++j) tile.at(first_row() + i, Scores<Bc>::col(j)) = p.at[i][j];
    __syncwarp();
}

/// Stores scores from registers to memory, where rows are `pitch` apart: the first `rows` rows, and their first `keys`
/// columns.
template <int Bc>
__device__ inline void store(const Scores<Bc>& s, float* to, int pitch, int rows, int keys) {
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
        for (int j = 0; j < Scores<Bc>::C; ++j)
            if (i < rows - first_row() && L * j < keys - lane())
                to[std::int64_t{first_row() + i} * pitch + Scores<Bc>::col(j)] = s.at[i][j];
}

/// Starts to load a tile of a score matrix that store() wrote. Its rows are `pitch` elements apart.
template <int threads, int Br, int Bc>
__device__ inline void load_scores(const SharedTile<Br, Bc, ReadBy::groups>& tile, const float* from, int pitch,
                                   int rows, int keys) {
    if (pitch > 1) return load_async<threads>(tile, from, pitch, rows, keys);
    for (int r = threadIdx.x; r < Br; r += threads)  // one key: rows are dense, not aligned to 16 bytes
        tile.piece(r, 0) = {r < rows ? load_past_l1(from + r) : 0, 0, 0, 0};
}

/// Calls put(address, piece) for this thread's pieces of 2 or 4 neighbouring columns of the first `rows` rows.
template <int Dv, class Put>
__device__ inline void put_rows(const Output<Dv>& o, float* to, int pitch, int rows, Put put) {
    constexpr int C = Output<Dv>::C, V = Output<Dv>::V;
#pragma unroll
    for (int i = 0; i < R; ++i) {
        const int r = first_row() + i;
        if (r >= rows) break;
#pragma unroll
        for (int j = 0; j < C; j += V) {
            float* const at = to + std::int64_t{r} * pitch + Output<Dv>::col(j);
            if constexpr (V == 4)
                put(at, float4{o.at[i][j], o.at[i][j + 1], o.at[i][j + 2], o.at[i][j + 3]});
            else
                put(at, float2{o.at[i][j], o.at[i][j + 1]});
        }
    }
}

/// Stores the first `rows` rows.
template <int Dv>
__device__ inline void store(const Output<Dv>& o, float* to, int pitch, int rows) {
    put_rows(o, to, pitch, rows, [](float* at, auto piece) { store_wide(at, piece); });
}

/// Adds the first `rows` rows to HBM by reductions: the L2 adds, and nothing comes back.
template <int Dv>
__device__ inline void reduce_add(const Output<Dv>& o, float* to, int pitch, int rows) {
    put_rows(o, to, pitch, rows, [](float* at, auto piece) { add_wide(at, piece); });
}

/// Loads the first `rows` rows, past L1; the others become 0.
template <int Dv>
__device__ inline void load(Output<Dv>& o, const float* from, int pitch, int rows) {
    constexpr int C = Output<Dv>::C, V = Output<Dv>::V;
#pragma unroll
    for (int i = 0; i < R; ++i) {
        const int r = first_row() + i;
#pragma unroll
        for (int j = 0; j < C; j += V) {
            const float* const at = from + std::int64_t{r} * pitch + Output<Dv>::col(j);
            if constexpr (V == 4) {
                const float4 x = r < rows ? __ldcg(reinterpret_cast<const float4*>(at)) : float4{};
                o.at[i][j] = x.x, o.at[i][j + 1] = x.y, o.at[i][j + 2] = x.z, o.at[i][j + 3] = x.w;
            } else {
                const float2 x = r < rows ? __ldcg(reinterpret_cast<const float2*>(at)) : float2{};
                o.at[i][j] = x.x, o.at[i][j + 1] = x.y;
            }
        }
    }
}

}  // namespace tilescope::cuda
