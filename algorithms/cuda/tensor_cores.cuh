// Tensor-core primitives for f16 and bf16: mma.sync m16n8k16, whose operands ldmatrix loads from swizzled tiles.
//
// In a 16 x 8 accumulator tile, lane 4 g + q holds columns 2 q and 2 q + 1 of rows g and g + 8 (PTX ISA, "Matrix
// Fragments for mma.m16n8k16"). Four lanes, a quad, share each row.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "algorithms/cuda/row_statistics.cuh"

namespace tilescope::cuda {

/// Two numbers, rounded to the storage type, in one 32-bit register.
template <class T>
__device__ inline unsigned pack(float low, float high) {
    if constexpr (std::is_same_v<T, __half>) {
        const __half2 x = __floats2half2_rn(low, high);
        return reinterpret_cast<const unsigned&>(x);
    } else {
        const __nv_bfloat162 x = __floats2bfloat162_rn(low, high);
        return reinterpret_cast<const unsigned&>(x);
    }
}

/// C += A B with A 16 x 16, B 16 x 8, C in f32.
template <class T>
__device__ inline void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    if constexpr (std::is_same_v<T, __half>)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    else
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Loads four 8 x 8 matrices from shared memory. Lanes 8 k to 8 k + 7 give the addresses of the rows of matrix k.
__device__ inline void ldmatrix(unsigned (&x)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(address)
                 : "memory");
}
__device__ inline void ldmatrix_transposed(unsigned (&x)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(address)
                 : "memory");
}

/// A Rows x Cols tile of f16 or bf16 in shared memory. The 16-byte pieces of a row are permuted, so that 8 rows of one
/// column of pieces lie in different banks.
template <class T, int Rows, int Cols>
struct HalfTile {
    static constexpr int pieces = Cols / 8, row_bytes = Cols * 2, size = Rows * Cols;
    T* data;

    __device__ static int swizzle(int r) { return Cols == 32 ? r / 2 % 4 : r % 8; }
    /// Offset of piece `c` of row `r`, in bytes.
    __device__ static unsigned offset(int r, int c) {
        return static_cast<unsigned>(r * row_bytes + ((c ^ swizzle(r)) << 4));
    }
    __device__ unsigned address() const { return static_cast<unsigned>(__cvta_generic_to_shared(data)); }
    __device__ char* piece(int r, int c) const { return reinterpret_cast<char*>(data) + offset(r, c); }
};

/// Starts to load the first `rows` rows of a tile; the others become 0. Rows of 32, 64, ... numbers follow one another
/// without gaps (DeviceLayout), so that all addresses are constants away from the first. `threads` threads share the
/// work; `thread` is the number of this one.
template <int threads, class T, int Rows, int Cols>
__device__ inline void load_async(const HalfTile<T, Rows, Cols>& tile, const T* from, int rows,
                                  unsigned thread = threadIdx.x) {
    static_assert(DeviceLayout(1, Cols, Dtype::f16).row == Cols);
    constexpr int pieces = HalfTile<T, Rows, Cols>::pieces, step = threads / pieces;
    static_assert(threads % pieces == 0 && Rows % step == 0);
    const int first = thread / pieces, c = thread % pieces;
    const unsigned to = tile.address();
    const T* const source = from + first * Cols + 8 * c;
#pragma unroll
    for (int r = 0; r < Rows; r += step)
        copy_async(to + tile.offset(first + r, c), first + r < rows ? source + r * Cols : from,
                   first + r < rows ? 16 : 0);
}

}  // namespace tilescope::cuda
