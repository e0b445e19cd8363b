// What a thread of flash_v3's kernel does to its two rows of S and O, which wgmma left in registers (wgmma.cuh): the
// mask, the softmax, and stores. Numbers in brackets are lines of the pseudo-code in algorithm.hpp.
#pragma once

#include "algorithms/attention/flash_v3/kernel_eight_bits.cuh"
#include "algorithms/cuda/hopper.cuh"
#include "algorithms/cuda/tensor_core_statistics.cuh"

namespace tilescope::flash_v3 {

/// What a thread knows of its two rows, r = 0 and 1. Element i of an accumulator belongs to row i % 4 / 2.
struct Rows {
    float m[2] = {-cuda::infinity, -cuda::infinity};
    float l[2] = {0, 0};  ///< of this thread's columns alone
    float factor[2];      ///< of what was summed before: exp(m_old - m)
};

__device__ inline float max_of_quad(float x) {
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ inline float sum_of_quad(float x) {
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}

/// Hides all but the first seen[r] keys of a tile, counted from this thread's first column.
template <int n>
__device__ inline void hide(float (&s)[n], const int (&seen)[2]) {
#pragma unroll
    for (int i = 0; i < n; ++i)
        if (i / 4 * 8 + i % 2 >= seen[i % 4 / 2]) s[i] = -cuda::infinity;
}

/// m: the maximum of each row, of `before` and this thread's columns, over the quad.
template <int n>
__device__ inline void find_maxima(const float (&s)[n], const float (&before)[2], float (&m)[2]) {
    float most[2][2] = {{before[0], before[0]}, {before[1], before[1]}};
#pragma unroll
    for (int i = 0; i < n; ++i) {
        float& x = most[i % 4 / 2][i % 2];
        x = fmaxf(x, s[i]);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) m[r] = max_of_quad(fmaxf(most[r][0], most[r][1]));
}

/// The same with half the instructions. Integers have a maximum of three (DPX). Floats are in the order of their bits
/// as long as one is not negative; where all of a row are, floats are compared.
template <int n>
__device__ inline void find_maxima_of_bits(const float (&s)[n], const float (&before)[2], float (&m)[2]) {
    const auto bits = [](float x) { return __float_as_int(x); };
    int most[2][2] = {{bits(before[0]), bits(before[0])}, {bits(before[1]), bits(before[1])}};
#pragma unroll
    for (int i = 0; i < n; i += 2) {
        int& x = most[i % 4 / 2][i / 4 % 2];
        x = __vimax3_s32(x, bits(s[i]), bits(s[i + 1]));
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const int x = max(most[r][0], most[r][1]), y = max(x, __shfl_xor_sync(~0u, x, 1));
        m[r] = __int_as_float(max(y, __shfl_xor_sync(~0u, y, 2)));
    }
    if (__any_sync(~0u, !(m[0] >= 0 && m[1] >= 0))) find_maxima(s, before, m);
}

/// m becomes the maximum with S; l and the factor for O are relative to the new one [13].
template <bool by_bits, int n>
__device__ inline void update_maxima(const float (&s)[n], Rows& rows, float to_log2) {
    float m[2];
    if constexpr (by_bits)
        find_maxima_of_bits(s, rows.m, m);
    else
        find_maxima(s, rows.m, m);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        rows.factor[r] = cuda::exp2_of((rows.m[r] - cuda::finite(m[r])) * to_log2);
        rows.m[r] = m[r];
        rows.l[r] *= rows.factor[r];
    }
}

/// S becomes P = exp(S - m), which l counts, too [13]. A factor of 2^n on P, for 8 bits, would be n less in `shift`,
/// and n log(2) less in the LSE.
template <int n>
__device__ inline void exponentials(float (&s)[n], Rows& rows, float to_log2) {
    const float shift[2] = {cuda::finite(rows.m[0]) * to_log2, cuda::finite(rows.m[1]) * to_log2};
#pragma unroll
    for (int i = 0; i < n; ++i) {
        s[i] = cuda::exp2_of(fmaf(s[i], to_log2, -shift[i % 4 / 2]));
        rows.l[i % 4 / 2] += s[i];
    }
}

/// P in the type of V.
template <class T, int n, int products>
__device__ inline void round_to(unsigned (&p)[products][4], const float (&s)[n]) {
    if constexpr (sizeof(T) == 1)
        return round_to_eight_bits(p, s);
    else
#pragma unroll
        for (int i = 0; i < n / 2; ++i) p[i / 4][i % 4] = cuda::pack<T>(s[2 * i], s[2 * i + 1]);
}

template <int n>
__device__ inline void scale_rows(float (&o)[n], const float (&factor)[2]) {
#pragma unroll
    for (int i = 0; i < n; ++i) o[i] *= factor[i % 4 / 2];
}

/// Stores a row of O. Of every 32 columns, each of four lanes has four pairs; they trade until each has 8 neighbours.
template <class T, int n>
__device__ inline void store_row(const float (&o)[n], int r, T* row, bool exists) {
    const int lane = cuda::quad_lane();
#pragma unroll
    for (int c = 0; c < n / 16; ++c) {
        unsigned x[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) x[k] = cuda::pack<T>(o[16 * c + 4 * k + 2 * r], o[16 * c + 4 * k + 2 * r + 1]);
#pragma unroll
        for (int distance = 1; distance <= 2; ++distance)
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                if (k & distance) continue;
                const bool upper = lane & distance;
                const unsigned got = __shfl_xor_sync(~0u, upper ? x[k] : x[k + distance], distance);
                x[k] = upper ? got : x[k], x[k + distance] = upper ? x[k + distance] : got;
            }
        if (exists) cuda::store_16_bytes(row + 32 * c + 8 * lane, x);
    }
}

}  // namespace tilescope::flash_v3
