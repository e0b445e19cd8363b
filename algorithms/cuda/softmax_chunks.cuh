// What the softmax kernels share: chunks of rows on their way from HBM to registers and back.
//
// As of a score tile, a lane holds 8 rows of a chunk and Bc / 16 columns of each row. In a full chunk these columns are
// pieces of 4 neighbours, so that loads and stores are 16 bytes wide. In a ragged chunk they are the columns of a score
// tile: nothing beyond the chunk's end is touched, and steps of 16 columns beyond its end are not computed.
#pragma once

#include "algorithms/cuda/row_statistics.cuh"

namespace tilescope::cuda {

template <int Bc>
using Chunk = Scores<Bc>;

/// Thread blocks of Br rows that an SM has to hold: 512 threads together, so that a thread has up to 128 registers.
constexpr Index blocks_per_sm(Index br) { return 512 / fp32_threads(br); }

/// The rows of X and Y in HBM that a thread block works on.
template <int Bc>
struct RowBlock {
    static_assert(Bc % (4 * L) == 0, "16 lanes read 16 bytes each");
    static constexpr int C = Chunk<Bc>::C;

    const float* x;
    float* y;
    int x_pitch, y_pitch, rows, cols;

    /// How many columns the chunk at column `j` has.
    __device__ int size(int j) const { return min(Bc, cols - j); }
    /// Whether this lane moves its part of the chunk at column `j` in pieces: the chunk is full, and so are its 8 rows.
    __device__ bool wide(int j) const { return j + Bc <= cols && first_row() + R <= rows; }
    /// Whether the chunk at column `j` has this lane's element (i, e), where !wide(j).
    __device__ bool exists(int i, int e, int j) const { return i < rows - first_row() && L * e < cols - j - lane(); }
    /// Column of the piece that this lane keeps in its elements e to e + 3.
    __device__ static int piece(int e) { return e * L + 4 * lane(); }

    /// Loads the chunk at column `j`, past L1. Rows and columns that do not exist become -inf: e^-inf adds nothing.
    __device__ void load(Chunk<Bc>& chunk, int j) const {
        const float* const from = x + std::int64_t{first_row()} * x_pitch + j;
        if (wide(j)) {
#pragma unroll
            for (int i = 0; i < R; ++i)
#pragma unroll
                for (int e = 0; e < C; e += 4) {
                    const float4 p = load_past_l1(reinterpret_cast<const float4*>(from + i * x_pitch + piece(e)));
                    chunk.at[i][e] = p.x, chunk.at[i][e + 1] = p.y, chunk.at[i][e + 2] = p.z, chunk.at[i][e + 3] = p.w;
                }
        } else {
#pragma unroll
            for (int i = 0; i < R; ++i)
#pragma unroll
                for (int e = 0; e < C; ++e)
                    chunk.at[i][e] = exists(i, e, j) ? load_past_l1(from + i * x_pitch + Chunk<Bc>::col(e)) : -infinity;
        }
    }

    /// Stores the chunk at column `j`.
    __device__ void store(const Chunk<Bc>& chunk, int j) const {
        float* const to = y + std::int64_t{first_row()} * y_pitch + j;
        if (wide(j)) {
#pragma unroll
            for (int i = 0; i < R; ++i)
#pragma unroll
                for (int e = 0; e < C; e += 4)
                    store_wide(to + i * y_pitch + piece(e),
                               float4{chunk.at[i][e], chunk.at[i][e + 1], chunk.at[i][e + 2], chunk.at[i][e + 3]});
        } else {
#pragma unroll
            for (int i = 0; i < R; ++i)
#pragma unroll
                for (int e = 0; e < C; ++e)
                    if (exists(i, e, j)) to[i * y_pitch + Chunk<Bc>::col(e)] = chunk.at[i][e];
        }
    }
};

/// Arguments of a softmax kernel.
struct SoftmaxArgs {
    Global<const float> X;
    Global<float> Y;
    int rows, cols;  ///< of a slice

    explicit SoftmaxArgs(const KernelCall& call)
        : X(call.tensors["X"]),
          Y(call.tensors["Y"]),
          rows(static_cast<int>(call.problem.seq_q)),
          cols(static_cast<int>(call.problem.seq_k)) {}

    /// This thread block's rows: Br of a slice, fewer at its end.
    template <int Br, int Bc>
    __device__ RowBlock<Bc> row_block() const {
        const int slice = blockIdx.y, i = blockIdx.x * Br;
        return {X.row(slice, i), Y.row(slice, i), X.pitch, Y.pitch, min(Br, rows - i), cols};
    }
};

/// X = exp(X) for the first `cols` columns, in steps of 16; 0 for the others.
template <int Bc>
__device__ inline void exp(Chunk<Bc>& x, int cols) {
#pragma unroll
    for (int e = 0; e < Chunk<Bc>::C; ++e) {
        if (L * e < cols) {
#pragma unroll
            for (int i = 0; i < R; ++i) x.at[i][e] = exponential(x.at[i][e]);
        } else {
#pragma unroll
            for (int i = 0; i < R; ++i) x.at[i][e] = 0;
        }
    }
}

/// 1 / l, so that a row costs one division. A row of nothing but -inf has l = 0 and stays 0; NaN stays NaN.
__device__ inline float reciprocal(float l) { return 1.f / (l == 0 ? 1.f : l); }

}  // namespace tilescope::cuda
