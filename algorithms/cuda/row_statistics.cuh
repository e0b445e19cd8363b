// Maxima, sums and factors of rows (m, l). A group of 16 lanes has 8 rows. Both lane x and lane x + 8 of the group keep
// the statistics of row x.
#pragma once

#include "algorithms/cuda/fragments.cuh"

namespace tilescope::cuda {

/// Gives all lanes of the group the value that lane i keeps: that of row i.
__device__ inline float spread(float kept, int i) { return __shfl_sync(~0u, kept, i, L); }

/// Reduces each row over the group's lanes; x[i] is this lane's part of row i. Each of the first three steps halves the
/// rows that a lane still has. Returns the result of row lane() % 8.
template <class Op>
__device__ inline float reduce_rows(const float (&x)[R], Op op) {
    const bool odd = lane() & 1, second = lane() & 2, upper = lane() & 4;
    float four[4], two[2];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float other = __shfl_xor_sync(~0u, odd ? x[2 * k] : x[2 * k + 1], 1);
        four[k] = op(odd ? x[2 * k + 1] : x[2 * k], other);
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const float other = __shfl_xor_sync(~0u, second ? four[2 * k] : four[2 * k + 1], 2);
        two[k] = op(second ? four[2 * k + 1] : four[2 * k], other);
    }
    const float other = __shfl_xor_sync(~0u, upper ? two[0] : two[1], 4);
    const float one = op(upper ? two[1] : two[0], other);
    return op(one, __shfl_xor_sync(~0u, one, 8));
}

template <int Bc>
__device__ inline float row_max(const Scores<Bc>& s) {
    float m[R];
#pragma unroll
    for (int i = 0; i < R; ++i) {
        m[i] = s.at[i][0];
#pragma unroll
        for (int j = 1; j < Scores<Bc>::C; ++j) m[i] = fmaxf(m[i], s.at[i][j]);
    }
    return reduce_rows(m, [](float a, float b) { return fmaxf(a, b); });
}

template <int Bc>
__device__ inline float row_sum(const Scores<Bc>& s) {
    float sum[R];
#pragma unroll
    for (int i = 0; i < R; ++i) {
        sum[i] = s.at[i][0];
#pragma unroll
        for (int j = 1; j < Scores<Bc>::C; ++j) sum[i] += s.at[i][j];
    }
    return reduce_rows(sum, [](float a, float b) { return a + b; });
}

/// What to subtract from a row whose maximum is m. A row that has seen no key yet has m = -inf, and -inf - (-inf) would
/// be NaN.
__device__ inline float finite(float m) { return m == -infinity ? 0.f : m; }

/// S = exp(S - m) for the first `keys` keys, in steps of 16; 0 for the others.
template <int Bc>
__device__ inline void exp_minus(Scores<Bc>& s, float m, int keys) {
    float row[R];
#pragma unroll
    for (int i = 0; i < R; ++i) row[i] = spread(finite(m), i);
#pragma unroll
    for (int j = 0; j < Scores<Bc>::C; ++j) {
        if (L * j < keys) {
#pragma unroll
            for (int i = 0; i < R; ++i) s.at[i][j] = exponential(s.at[i][j] - row[i]);
        } else {
#pragma unroll
            for (int i = 0; i < R; ++i) s.at[i][j] = 0;
        }
    }
}

/// 1 / l, or 0 for rows that have seen no key.
__device__ inline float inverse(float l) { return l > 0 ? 1.f / l : 0.f; }

/// The row of the thread block whose statistics this lane keeps.
__device__ inline int kept_row() { return first_row() + lane() % R; }
/// Whether this lane is the lower one of lanes x and x + 8, which keep the statistics of row x.
__device__ inline bool keeps_first() { return lane() < R; }

/// Stores a statistic of the first `rows` rows.
__device__ inline void store_kept(float kept, float* to, int rows) {
    if (keeps_first() && kept_row() < rows) to[kept_row()] = kept;
}

/// Two statistics of a row, which both lanes that keep them know.
struct Pair {
    float first, second;
};

/// Exchanges the values of the two lanes that keep a row: `first` is the value of lane x, `second` that of lane x + 8.
__device__ inline Pair exchange(float own) {
    const float other = __shfl_xor_sync(~0u, own, R, L);
    return keeps_first() ? Pair{own, other} : Pair{other, own};
}

/// Stores two statistics of the first `rows` rows. Each of the two lanes that keep a row stores one of them.
__device__ inline void store_pair(Pair kept, float* first, float* second, int rows) {
    if (kept_row() < rows) (keeps_first() ? first : second)[kept_row()] = keeps_first() ? kept.first : kept.second;
}

/// Loads two statistics of the first `rows` rows past L1. Each thread loads what it stored in store_pair(), so that no
/// barrier is needed in between.
__device__ inline Pair load_pair(const float* first, const float* second, int rows) {
    const float* const from = keeps_first() ? first : second;
    return exchange(kept_row() < rows ? load_past_l1(from + kept_row()) : 0.f);
}

}  // namespace tilescope::cuda
