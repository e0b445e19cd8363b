// Maxima, sums and factors of a warp's 16 M rows (m, l) on tensor cores. A quad (four lanes) shares 2 M rows. Its row
// q = 0 .. 2 M - 1 is row 16 (q / 2) + 8 (q % 2) + lane / 4 of the warp. Lane q of the quad keeps the statistics of row
// q; where M is 1, lane q + 2 keeps them too. Accumulator element e of tile mt belongs to row q = 2 mt + e / 2.
#pragma once

#include "algorithms/cuda/tensor_core_fragments.cuh"

namespace tilescope::cuda {

__device__ inline int quad_lane() { return threadIdx.x % 4; }
__device__ inline float spread_in_quad(float kept, int q) { return __shfl_sync(~0u, kept, q, 4); }
/// The row of the warp whose statistics this lane keeps.
template <int M>
__device__ inline int kept_row_of_warp() {
    return (M == 1 ? 0 : quad_lane() / 2 * 16) + quad_lane() % 2 * 8 + threadIdx.x % 32 / 4;
}

/// Reduces each row over the quad; x[q] is this lane's part of row q.
template <int rows, class Op>
__device__ inline float reduce_quad(const float (&x)[rows], Op op) {
    static_assert(rows == 2 || rows == 4, "a lane of the quad for each row, or two");
    [[maybe_unused]] const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
    float two[rows / 2];
#pragma unroll
    for (int k = 0; k < rows / 2; ++k) {
        const float other = __shfl_xor_sync(~0u, odd ? x[2 * k] : x[2 * k + 1], 1);
        two[k] = op(odd ? x[2 * k + 1] : x[2 * k], other);
    }
    if constexpr (rows == 2) {
        return op(two[0], __shfl_xor_sync(~0u, two[0], 2));
    } else {
        const float other = __shfl_xor_sync(~0u, upper ? two[0] : two[1], 2);
        return op(upper ? two[1] : two[0], other);
    }
}

/// Reduces each of the quad's rows over all of its columns.
template <int M, int Bc, class Op>
__device__ inline float reduce_rows(const Accumulators<M, Bc>& s, Op op) {
    float x[2 * M];
#pragma unroll
    for (int q = 0; q < 2 * M; ++q) {
        const auto element = [&](int k) { return s.at[q / 2][k / 2][q % 2 * 2 + k % 2]; };
        x[q] = element(0);
#pragma unroll
        for (int k = 1; k < Bc / 4; ++k) x[q] = op(x[q], element(k));
    }
    return reduce_quad(x, op);
}

__device__ inline float exp2_of(float x) {
    float y;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));  // volatile: see exponential()
    return y;
}

/// S = 2^(to_log2 (S - m)) for the first `keys` keys, in steps of 8; 0 for the others. to_log2 = scale log2(e).
template <int M, int Bc>
__device__ inline void exp_minus(Accumulators<M, Bc>& s, float m, float to_log2, int keys) {
    const float shift = finite(m) * to_log2;
#pragma unroll
    for (int q = 0; q < 2 * M; ++q) {
        const float row = spread_in_quad(shift, q);
#pragma unroll
        for (int nt = 0; nt < Bc / 8; ++nt)
#pragma unroll
            for (int e = q % 2 * 2; e < q % 2 * 2 + 2; ++e) {
                float& x = s.at[q / 2][nt][e];
                x = 8 * nt < keys ? exp2_of(fmaf(x, to_log2, -row)) : 0.f;
            }
    }
}

template <int M, int N>
__device__ inline void scale_rows(Accumulators<M, N>& o, float factor) {
#pragma unroll
    for (int q = 0; q < 2 * M; ++q) {
        const float f = spread_in_quad(factor, q);
#pragma unroll
        for (int nt = 0; nt < N / 8; ++nt)
#pragma unroll
            for (int e = q % 2 * 2; e < q % 2 * 2 + 2; ++e) o.at[q / 2][nt][e] *= f;
    }
}

}  // namespace tilescope::cuda
