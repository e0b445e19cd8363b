// What the kernels share: tiles in shared memory, copies that bypass L1, the two matrix products and row statistics.
//
// The threads of a block stand in groups of 16 lanes. A group owns 8 rows of the block's queries, so a warp owns 16.
// Of a score tile, lane x holds columns x, x + 16, x + 32, ...; of an output tile, pieces of up to 4 neighbouring
// columns, so that stores are wide. Row statistics (m, l, correction factors) are held once: lane x keeps those of row
// x % 8 of its group, and hands them round with `spread`.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <utility>

#include "algorithms/kernel.hpp"
#include "core/error.hpp"

namespace tilescope::device {

inline constexpr int R = rows_per_thread, L = lanes_per_row;
inline constexpr float infinity = __builtin_huge_valf();

__device__ inline int lane() { return threadIdx.x % L; }
/// This thread's first row within the block's tile of queries.
__device__ inline int first_row() { return threadIdx.x / L * R; }
/// Whether any of this warp's 16 rows is among the first `rows`. The same for the whole warp.
__device__ inline bool warp_has_rows(int rows) { return static_cast<int>(threadIdx.x) / 32 * 2 * R < rows; }

/// e^x for x <= 0, one multiplication and one operation of the special-function unit. Below e^-87 it is 0.
__device__ inline float exponential(float x) {
    float y;
    // volatile: not computed ahead of a condition, where it would be counted although nobody needs it
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
    return y;
}

// ---- the workload, as a kernel sees it ----

struct Workload {
    int seq_q, seq_k;
    int diagonal;  ///< query r sees keys <= r + diagonal; seq_k where all keys are seen
    float scale;
    std::uint64_t kv_per_head;  ///< in units of 2^-32: a division would be counted among the exponentials

    explicit Workload(const Problem& p)
        : seq_q(static_cast<int>(p.seq_q)),
          seq_k(static_cast<int>(p.seq_k)),
          diagonal(static_cast<int>(p.causal ? p.diagonal() : p.seq_k)),
          scale(p.logit_scale()),
          kv_per_head((std::uint64_t{1} << 32) / static_cast<std::uint64_t>(p.heads / p.kv_heads) + 1) {}

    /// The K and V slice that a query head reads.
    __device__ int kv_slice(int head) const { return static_cast<int>(head * kv_per_head >> 32); }
    /// How many key tiles a row block that ends before row `end` sees.
    __device__ int visible_tiles(int end, int bc) const {
        const int keys = min(max(end + diagonal, 0), seq_k);
        return (keys + bc - 1) / bc;
    }
    /// The first row block that sees key `key`.
    __device__ int first_seeing(int key, int br) const { return max(0, key - diagonal) / br; }
};

/// A tensor in HBM: slices of rows.
template <class T>
struct Global {
    T* data;
    std::int64_t slice_pitch;
    int pitch;

    explicit Global(const DeviceTensor& t)
        : data(static_cast<T*>(t.data)), slice_pitch(t.layout.slice), pitch(static_cast<int>(t.layout.row)) {}
    __device__ T* row(int slice, int r) const { return data + slice * slice_pitch + std::int64_t{r} * pitch; }
};

// ---- HBM to shared memory ----

/// Which threads read a tile together decides how its 16-byte pieces are permuted so that they hit different banks.
enum class ReadBy {
    groups,  ///< two groups of lanes, rows 8 apart, the same columns: Q and P
    lanes,   ///< 16 lanes, one row each: K
    rows,    ///< 16 lanes, one row: V
};

/// A Rows x Cols tile of floats in shared memory.
template <int Rows, int Cols, ReadBy by>
struct SharedTile {
    static constexpr int pieces = Cols / 4;  ///< of 16 bytes, in a row
    static constexpr int size = Rows * Cols;
    float* data;

    __device__ static int swizzle(int r) {
        return by == ReadBy::groups ? (r / R % 2) * 4 : by == ReadBy::lanes ? r % 8 : 0;
    }
    __device__ float4& piece(int r, int c4) const {
        return reinterpret_cast<float4*>(data)[r * pieces + (c4 ^ swizzle(r))];
    }
    __device__ float& at(int r, int c) const { return data[(r * pieces + ((c / 4) ^ swizzle(r))) * 4 + c % 4]; }
};

/// From HBM to registers, past L1.
__device__ inline float4 load_past_l1(const float4* from) { return __ldcg(from); }
__device__ inline float load_past_l1(const float* from) { return __ldcg(from); }

/// From registers to HBM in one store: compilers split one that is written as an assignment, and the parts do not
/// always meet again on their way to L2.
__device__ inline void store_wide(float* to, float4 x) { __stcg(reinterpret_cast<float4*>(to), x); }
__device__ inline void store_wide(float* to, float2 x) { __stcg(reinterpret_cast<float2*>(to), x); }

/// Copies 16 bytes past L1 and the registers, of which `valid` come from memory; the others become 0.
__device__ inline void copy_async(void* to, const void* from, int valid) {
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(valid) : "memory");
}

/// Starts to load the first `rows` rows and `cols` columns of a tile; the rest of it becomes 0.
template <int threads, int Rows, int Cols, ReadBy by>
__device__ inline void load_async(const SharedTile<Rows, Cols, by>& tile, const float* from, int pitch, int rows,
                                  int cols = Cols) {
    constexpr int pieces = Cols / 4;
#pragma unroll 4
    for (int k = threadIdx.x; k < Rows * pieces; k += threads) {
        const int r = k / pieces, c4 = k % pieces;
        const float* const piece = from + std::int64_t{r} * pitch + 4 * c4;
        const int valid = r < rows ? min(max(cols - 4 * c4, 0), 4) : 0;
        if (valid == 0 || valid == 4)
            copy_async(&tile.piece(r, c4), valid > 0 ? piece : from, valid * 4);
        else  // what follows the row's end in memory may never have been written
            for (int e = 0; e < 4; ++e) tile.at(r, 4 * c4 + e) = e < valid ? load_past_l1(piece + e) : 0.f;
    }
}

/// Waits until everything that this thread began to load has arrived, then for the other threads: now all see it.
__device__ inline void wait_for_loads() {
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
}

// ---- the two matrix products ----

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

/// S = scale Q K^T for the first `keys` keys; the columns of the others, in steps of 16, are left alone.
template <int Br, int Bc, int D>
__device__ inline void score(Scores<Bc>& s, const SharedTile<Br, D, ReadBy::groups>& q,
                             const SharedTile<Bc, D, ReadBy::lanes>& k, int keys, float scale) {
    const auto columns = [&](int from, int to) {
#pragma unroll 4
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

/// O += P V over the first `keys` keys; the elements of P beyond them, up to a multiple of 4, have to be 0.
template <int Br, int Bc, int Dv>
__device__ inline void accumulate(Output<Dv>& o, const SharedTile<Br, Bc, ReadBy::groups>& p,
                                  const SharedTile<Bc, Dv, ReadBy::rows>& v, int keys) {
    constexpr int C = Output<Dv>::C, V = Output<Dv>::V;
#pragma unroll 2
    for (int k4 = 0; k4 < (keys + 3) / 4; ++k4) {
        float b[4][C];
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
            for (int j = 0; j < C; j += V) {
                const float* from = &v.at(4 * k4 + k, Output<Dv>::col(j));
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

/// Scores of keys that do not exist or that causality hides become -inf. `row` and `key`: the tile's first.
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

/// P to shared memory, for the second product to read. The rows stay within a warp: that is all that has to wait.
template <int Br, int Bc>
__device__ inline void stage(const SharedTile<Br, Bc, ReadBy::groups>& tile, const Scores<Bc>& p) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
        for (int j = 0; j < Scores<Bc>::C; ++j) tile.at(first_row() + i, Scores<Bc>::col(j)) = p.at[i][j];
    __syncwarp();
}

// ---- row statistics: lane x keeps that of row x % 8 of its group ----

/// The value that lane `i` of the group keeps: row i's.
__device__ inline float spread(float kept, int i) { return __shfl_sync(~0u, kept, i, L); }

/// x[i] is this lane's share of row i. Reduces over the group's lanes, halving the rows at each of the first three
/// steps.
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

/// What to subtract from a row whose maximum is m: rows that have seen no key yet keep -inf without becoming NaN.
__device__ inline float finite(float m) { return m == -infinity ? 0.f : m; }

/// S = exp(S - m) for the first `keys` keys, 0 for the others.
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

// ---- registers to and from HBM ----

/// Stores the first `rows` rows.
template <int Dv>
__device__ inline void store(const Output<Dv>& o, float* to, int pitch, int rows) {
    constexpr int C = Output<Dv>::C, V = Output<Dv>::V;
#pragma unroll
    for (int i = 0; i < R; ++i) {
        const int r = first_row() + i;
        if (r >= rows) break;
#pragma unroll
        for (int j = 0; j < C; j += V) {
            float* const at = to + std::int64_t{r} * pitch + Output<Dv>::col(j);
            if constexpr (V == 4)
                store_wide(at, float4{o.at[i][j], o.at[i][j + 1], o.at[i][j + 2], o.at[i][j + 3]});
            else
                store_wide(at, float2{o.at[i][j], o.at[i][j + 1]});
        }
    }
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

/// This lane's row among the block's, for the statistics that it keeps.
__device__ inline int kept_row() { return first_row() + lane() % R; }
/// Whether this lane is the one of the two keepers that stores.
__device__ inline bool keeps_first() { return lane() < R; }

/// Stores a statistic of the first `rows` rows.
__device__ inline void store_kept(float kept, float* to, int rows) {
    if (keeps_first() && kept_row() < rows) to[kept_row()] = kept;
}

/// Two statistics of a row, which both of its keepers know.
struct Pair {
    float first, second;
};

/// Both keepers learn what the one among lanes 0 to 7 has, and what the one among lanes 8 to 15 has.
__device__ inline Pair exchange(float own) {
    const float other = __shfl_xor_sync(~0u, own, R, L);
    return keeps_first() ? Pair{own, other} : Pair{other, own};
}

/// Stores two statistics of the first `rows` rows, each by one of the two keepers.
__device__ inline void store_pair(Pair kept, float* first, float* second, int rows) {
    if (kept_row() < rows) (keeps_first() ? first : second)[kept_row()] = keeps_first() ? kept.first : kept.second;
}

/// Loads them, past L1, by the threads that store_pair() stored them from: no barrier is needed between the two.
__device__ inline Pair load_pair(const float* first, const float* second, int rows) {
    const float* const from = keeps_first() ? first : second;
    return exchange(kept_row() < rows ? load_past_l1(from + kept_row()) : 0.f);
}

// ---- launching, from the host ----

inline void check(cudaError_t code, const char* what) {
    if (code != cudaSuccess) throw RunError(std::string(what) + ": " + cudaGetErrorString(code));
}

/// Calls f.operator()<I>() for the position I of the call's variant in `table`.
template <const auto& table, class F>
void dispatch(const KernelCall& call, F f) {
    const auto try_one = [&]<std::size_t I>() {
        if (!(table[I] == *call.variant)) return false;
        f.template operator()<I>();
        return true;
    };
    const bool found = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return (try_one.template operator()<I>() || ...);
    }
    (std::make_index_sequence<std::size(table)>());
    if (!found) throw std::logic_error("the variant is not one of this kernel's");
}

/// Enqueues one launch. `name` is the launch's in the simulated program.
template <class... Args>
void enqueue(const char* name, void (*kernel)(Args...), dim3 grid, Index threads, Bytes shared, void* stream,
             Args... args) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)), name);
    kernel<<<grid, static_cast<unsigned>(threads), static_cast<std::size_t>(shared),
             static_cast<cudaStream_t>(stream)>>>(args...);
    check(cudaGetLastError(), name);
}

/// Row blocks x batch-heads, one thread block each. CUDA's grids have at most 65535 in their second axis.
inline dim3 grid_of(Index row_blocks, Index batch_heads) {
    if (batch_heads > 65535) throw RunError("batch x heads must be at most 65535 for a kernel; use fewer heads");
    return dim3(static_cast<unsigned>(row_blocks), static_cast<unsigned>(batch_heads));
}

}  // namespace tilescope::device
