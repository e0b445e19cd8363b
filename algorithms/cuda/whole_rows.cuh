// Rows of scores that stay in the registers of several threads.
#pragma once

#include "algorithms/cuda/device.cuh"
#include "algorithms/cuda/shared_tiles.cuh"

namespace tilescope::cuda {

inline constexpr int whole_rows_threads = 256;
/// Pieces of 16 bytes that a thread keeps in registers.
inline constexpr int kept_pieces = 16;

/// A row of scores in the registers of T neighbouring threads. A piece is 4 columns. Thread t keeps pieces t, t + T,
/// t + 2 T, ..., as long as all T threads have one. Fewer than 4 T columns are left, the rest. Of these, thread t keeps
/// columns t, t + T, t + 2 T and t + 3 T.
template <int T>
struct Row {
    static constexpr int capacity = kept_pieces * 4 * T;  ///< columns

    int t, cols, full;  ///< this thread's number, the row's columns, and the pieces of each thread
    float4 pieces[kept_pieces];
    float rest[4];

    __device__ Row(int position, int columns) : t(position), cols(columns), full(columns / (4 * T)) {}
    __device__ int piece(int k) const { return (k * T + t) * 4; }
    __device__ int rest_col(int k) const { return (full * 4 + k) * T + t; }
    /// Whether any thread of this warp has a k-th column of the rest.
    __device__ bool warp_has_rest(int k) const { return (full * 4 + k) * T + t / 32 * 32 < cols; }

    /// Calls f(element) for this thread's elements. Elements of the rest need not exist: f is called for all lanes
    /// of a warp in which any lane has such an element.
    template <class F>
    __device__ void each(F f) {
#pragma unroll
        for (int k = 0; k < kept_pieces; ++k) {
            if (k >= full) break;
            f(pieces[k].x), f(pieces[k].y), f(pieces[k].z), f(pieces[k].w);
        }
        if (!warp_has_rest(0)) return;
#pragma unroll
        for (int k = 0; k < 4; ++k)
            if (warp_has_rest(k)) f(rest[k]);
    }
    /// Loads the row. Elements of the rest that do not exist become `missing`.
    __device__ void load(const float* from, float missing = -infinity) {
#pragma unroll
        for (int k = 0; k < kept_pieces; ++k) {
            if (k >= full) break;
            pieces[k] = load_past_l1(reinterpret_cast<const float4*>(from + piece(k)));
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) rest[k] = rest_col(k) < cols ? load_past_l1(from + rest_col(k)) : missing;
    }
    __device__ void store(float* to) const {
#pragma unroll
        for (int k = 0; k < kept_pieces; ++k) {
            if (k >= full) break;
            store_wide(to + piece(k), pieces[k]);
        }
#pragma unroll
        for (int k = 0; k < 4; ++k)
            if (rest_col(k) < cols) to[rest_col(k)] = rest[k];
    }
};

/// Calls f(element of x, element of y) for all of this thread's elements of two rows of equal length.
template <int T, class F>
__device__ void each_of(Row<T>& x, Row<T>& y, F f) {
#pragma unroll
    for (int k = 0; k < kept_pieces; ++k) {
        if (k >= x.full) break;
        f(x.pieces[k].x, y.pieces[k].x), f(x.pieces[k].y, y.pieces[k].y);
        f(x.pieces[k].z, y.pieces[k].z), f(x.pieces[k].w, y.pieces[k].w);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) f(x.rest[k], y.rest[k]);
}

/// Reduces over the threads of a row that are in the same warp. All of them get the result.
template <int T, class Op>
__device__ float reduce_in_warp(float x, Op op) {
#pragma unroll
    for (int step = 1; step < (T < 32 ? T : 32); step *= 2) x = op(x, __shfl_xor_sync(~0u, x, step));
    return x;
}

/// Sums over the T threads of each row. All of them get the result. `sums` is shared memory for a number of each
/// warp of the block.
template <int T>
__device__ float sum_of_row(float x, float* sums) {
    x = reduce_in_warp<T>(x, [](float a, float b) { return a + b; });
    if constexpr (T > 32) {
        if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
        __syncthreads();
        x = 0;
        const int first = threadIdx.x / T * (T / 32);
        for (int w = 0; w < T / 32; ++w) x += sums[first + w];
    }
    return x;
}

}  // namespace tilescope::cuda
