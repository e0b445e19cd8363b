// Tiles in shared memory, and how they are filled from HBM without passing through L1.
#pragma once

#include "algorithms/cuda/device.cuh"

namespace tilescope::cuda {

/// How the threads of a warp read a tile. The permutation of its 16-byte pieces follows from that: pieces that are read
/// together lie in different banks.
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

/// Loads from HBM to registers, past L1.
__device__ inline float4 load_past_l1(const float4* from) { return __ldcg(from); }
__device__ inline float load_past_l1(const float* from) { return __ldcg(from); }

/// Stores registers to HBM in one piece. The compiler may split an assignment into several stores, and these are not
/// always merged again on their way to L2.
__device__ inline void store_wide(float* to, float4 x) { __stcg(reinterpret_cast<float4*>(to), x); }
__device__ inline void store_wide(float* to, float2 x) { __stcg(reinterpret_cast<float2*>(to), x); }

/// Adds registers to HBM by a reduction: the L2 adds, and nothing comes back.
__device__ inline void add_wide(float* to, float2 x) {
#if __CUDA_ARCH__ >= 900
    asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(x.x), "f"(x.y) : "memory");
#else
    atomicAdd(to, x.x), atomicAdd(to + 1, x.y);
#endif
}
__device__ inline void add_wide(float* to, float4 x) {
#if __CUDA_ARCH__ >= 900
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w)
                 : "memory");
#else
    add_wide(to, float2{x.x, x.y}), add_wide(to + 2, float2{x.z, x.w});
#endif
}

/// Copies 16 bytes from HBM to a shared address, past L1 and the registers. Only the first `valid` bytes are read; the
/// others become 0.
__device__ inline void copy_async(unsigned to, const void* from, int valid) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid) : "memory");
}
__device__ inline void copy_async(void* to, const void* from, int valid) {
    copy_async(static_cast<unsigned>(__cvta_generic_to_shared(to)), from, valid);
}

/// Starts to load the first `rows` rows and `cols` columns of a tile; the rest of it becomes 0.
template <int threads, int unrolled = 4, int Rows, int Cols, ReadBy by>
__device__ inline void load_async(const SharedTile<Rows, Cols, by>& tile, const float* from, int pitch, int rows,
                                  int cols = Cols) {
    constexpr int pieces = Cols / 4;
#pragma unroll unrolled
    for (int k = threadIdx.x; k < Rows * pieces; k += threads) {
        const int r = k / pieces, c4 = k % pieces;
        const float* const piece = from + std::int64_t{r} * pitch + 4 * c4;
        const int valid = r < rows ? min(max(cols - 4 * c4, 0), 4) : 0;
        if (valid == 0 || valid == 4)
            copy_async(&tile.piece(r, c4), valid > 0 ? piece : from, valid * 4);
        else  // not copied whole: what follows the row's end may never have been written
            for (int e = 0; e < 4; ++e) tile.at(r, 4 * c4 + e) = e < valid ? load_past_l1(piece + e) : 0.f;
    }
}

/// Waits until everything that the threads of the block began to load has arrived; then all of them see all of it.
__device__ inline void wait_for_loads() {
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
}

/// Makes a batch of what this thread began to load since the last call. wait_for_all_but() counts batches, empty ones
/// too.
__device__ inline void end_batch() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until this thread's batches have arrived, except the last n. Other threads see the batches after a barrier.
template <int n>
__device__ inline void wait_for_all_but() {
    asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

}  // namespace tilescope::cuda
