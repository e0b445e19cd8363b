// A warp's 16 M rows of a tile of scores or of outputs on tensor cores: the two matrix products, the mask, and stores.
// Maxima, sums and factors of these rows are in tensor_core_statistics.cuh.
#pragma once

#include "algorithms/cuda/tensor_cores.cuh"

namespace tilescope::cuda {

/// A warp's 16 M x N accumulators: at[mt][nt] is this lane's part of the 16 x 8 tile at row 16 mt and column 8 nt.
template <int M, int N>
struct Accumulators {
    float at[M][N / 8][4];

    __device__ void fill(float x) {
#pragma unroll
        for (int mt = 0; mt < M; ++mt)
#pragma unroll
            for (int nt = 0; nt < N / 8; ++nt)
#pragma unroll
                for (int e = 0; e < 4; ++e) at[mt][nt][e] = x;
    }
};

/// S = Q K^T, unscaled. `row` is the warp's first row.
template <class T, int M, int Br, int Bc, int D>
__device__ inline void score(Accumulators<M, Bc>& s, const HalfTile<T, Br, D>& q, const HalfTile<T, Bc, D>& k,
                             int row) {
    const int lane = threadIdx.x % 32;
    const unsigned first_q = q.address() + q.offset(row + lane % 16, lane / 16);
    const unsigned first_k = k.address() + k.offset(lane % 8 + lane / 16 * 8, lane / 8 % 2);
    s.fill(0);
    constexpr int steps = D / 16;
    // With the loop wholly unrolled, ptxas moves so many loads ahead that they do not fit in registers, unless S is
    // small.
    constexpr int unrolled = M * Bc <= 32 ? steps : 2;
#pragma unroll unrolled
    for (int kd = 0; kd < steps; ++kd) {
        unsigned a[M][4];
#pragma unroll
        for (int mt = 0; mt < M; ++mt) ldmatrix(a[mt], (first_q ^ (kd << 5)) + mt * 16 * q.row_bytes);
#pragma unroll
        for (int nt = 0; nt < Bc / 8; nt += 2) {
            unsigned b[4];
            ldmatrix(b, (first_k ^ (kd << 5)) + nt * 8 * k.row_bytes);
#pragma unroll
            for (int mt = 0; mt < M; ++mt) {
                mma<T>(s.at[mt][nt], a[mt], b[0], b[1]);
                mma<T>(s.at[mt][nt + 1], a[mt], b[2], b[3]);
            }
        }
    }
}

/// A warp's 16 M x K operand in the storage type: at[mt][k] is this lane's part of the 16 x 16 tile at row 16 mt and
/// column 16 k.
template <int M, int K>
struct Operand {
    unsigned at[M][K / 16][4];
};

/// P, rounded to the storage type. Two neighbouring accumulator tiles are laid out over the lanes like one operand.
template <class T, int M, int Bc>
__device__ inline Operand<M, Bc> rounded(const Accumulators<M, Bc>& p) {
    Operand<M, Bc> x;
#pragma unroll
    for (int mt = 0; mt < M; ++mt)
#pragma unroll
        for (int k = 0; k < Bc / 16; ++k)
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                const float(&tile)[4] = p.at[mt][2 * k + part / 2];
                x.at[mt][k][part] = pack<T>(tile[part % 2 * 2], tile[part % 2 * 2 + 1]);
            }
    return x;
}

/// O += P V.
template <class T, int M, int Bc, int Dv>
__device__ inline void accumulate(Accumulators<M, Dv>& o, const Operand<M, Bc>& p, const HalfTile<T, Bc, Dv>& v) {
    const int lane = threadIdx.x % 32;
    const unsigned first = v.address() + v.offset(lane % 16, lane / 16);
#pragma unroll
    for (int k = 0; k < Bc / 16; ++k) {
#pragma unroll
        for (int n = 0; n < Dv / 16; ++n) {
            unsigned b[4];
            ldmatrix_transposed(b, (first ^ (n << 5)) + k * 16 * v.row_bytes);
#pragma unroll
            for (int mt = 0; mt < M; ++mt) {
                mma<T>(o.at[mt][2 * n], p.at[mt][k], b[0], b[1]);
                mma<T>(o.at[mt][2 * n + 1], p.at[mt][k], b[2], b[3]);
            }
        }
    }
}

/// Scores of keys that do not exist or that causality hides become -inf. `row` is the warp's first row, `key` the
/// tile's first key.
template <int M, int Bc>
__device__ inline void mask(Accumulators<M, Bc>& s, const Workload& w, int row, int key, int keys) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int mt = 0; mt < M; ++mt)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const int r = row + 16 * mt + e / 2 * 8 + lane / 4;
            const int seen = min(keys, r + w.diagonal - key + 1) - lane % 4 * 2 - e % 2;  // from the lane's column on
#pragma unroll
            for (int nt = 0; nt < Bc / 8; ++nt)
                if (8 * nt >= seen) s.at[mt][nt][e] = -infinity;
        }
}

/// Which scores of a tile are seen. This is looked up before S is computed, because beside S and O there are too few
/// registers for looking it up. `row` is the warp's first row.
template <int M, int Bc>
struct SeenScores {
    static_assert(Bc <= 128, "two bits for each eight columns");
    unsigned bits[M][2];

    __device__ SeenScores(const Masked& m, int row, int key) {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int mt = 0; mt < M; ++mt)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int r = row + 16 * mt + 8 * half + lane / 4, first = key + lane % 4 * 2;
                bits[mt][half] = 0;
#pragma unroll 1
                for (int bit = 0; bit < Bc / 4; ++bit)
                    if (m.sees(r, first + bit / 2 * 8 + bit % 2)) bits[mt][half] |= 1u << bit;
            }
    }
    /// Sets the scores that are not seen to -inf.
    __device__ void mask(Accumulators<M, Bc>& s) const {
#pragma unroll
        for (int mt = 0; mt < M; ++mt)
#pragma unroll
            for (int bit = 0; bit < Bc / 4; ++bit)
#pragma unroll
                for (int half = 0; half < 2; ++half)
                    if (!(bits[mt][half] >> bit & 1)) s.at[mt][bit / 2][2 * half + bit % 2] = -infinity;
    }
};

/// S = Q K^T of a tile of which some rows do not see every key: hidden scores are -inf.
template <class T, int M, int Br, int Bc, int D>
__device__ inline void score_masked(Accumulators<M, Bc>& s, const HalfTile<T, Br, D>& q, const HalfTile<T, Bc, D>& k,
                                    int row, const Plain& plain, int block_row, int key, int keys) {
    score(s, q, k, row);
    mask(s, plain.work, block_row + row, key, keys);
}
template <class T, int M, int Br, int Bc, int D>
__device__ inline void score_masked(Accumulators<M, Bc>& s, const HalfTile<T, Br, D>& q, const HalfTile<T, Bc, D>& k,
                                    int row, const Masked& m, int block_row, int key, int /*keys*/) {
    const SeenScores<M, Bc> seen(m, block_row + row, key);
    score(s, q, k, row);
    seen.mask(s);
}

/// Stores the first `rows` of the warp's rows. They go through the warp's own rows of `tile` in shared
/// memory, so that stores are 16 bytes wide.
template <class T, int M, int Br, int D>
__device__ inline void store(const Accumulators<M, D>& o, const HalfTile<T, Br, D>& tile, int row, T* to, int pitch,
                             int rows) {
    const int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int mt = 0; mt < M; ++mt)
#pragma unroll
        for (int nt = 0; nt < D / 8; ++nt)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                char* const piece = tile.piece(row + 16 * mt + 8 * half + lane / 4, nt);
                *reinterpret_cast<unsigned*>(piece + lane % 4 * 4) =
                    pack<T>(o.at[mt][nt][2 * half], o.at[mt][nt][2 * half + 1]);
            }
    __syncwarp();
    constexpr int pieces = D / 8;
#pragma unroll
    for (int k = lane; k < 16 * M * pieces; k += 32) {
        const int r = k / pieces, c = k % pieces;
        if (r < rows)
            __stcg(reinterpret_cast<uint4*>(to + std::int64_t{r} * pitch + 8 * c),
                   *reinterpret_cast<const uint4*>(tile.piece(row + r, c)));
    }
}

}  // namespace tilescope::cuda
