// The first and the last launch of a backward pass. The first computes D_i = rowsum(dO_i * O_i). The last sums up or
// rounds dQ.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "algorithms/cuda/shared_tiles.cuh"

namespace tilescope::cuda {

inline constexpr int row_products_threads = 128;

/// The numbers of the storage type in 16 bytes.
template <class T>
struct Piece {
    static constexpr int size = 16 / sizeof(T);
    T at[size];
};
template <class T>
__device__ inline Piece<T> load_piece(const T* from) {
    const float4 x = load_past_l1(reinterpret_cast<const float4*>(from));
    return reinterpret_cast<const Piece<T>&>(x);
}

template <class T>
struct RowProductsArgs {
    Global<const T> O, dO;
    Global<float> D, zeroed;  ///< zeroed: a tensor to fill with 0; its data is nullptr where there is none
    int seq_q, parts;         ///< `zeroed` has so many parts of seq_q rows
};

/// Writes D of `rows` rows from row i on, with all threads of the block. `sums`: shared memory for Br numbers. A thread
/// block that reads this D itself needs a barrier first.
template <int threads, int Br, int DimV, class T>
__device__ inline void row_product(Global<const T> O, Global<const T> dO, Global<float> D, int head, int i, int rows,
                                   float* sums) {
    constexpr int lanes = DimV / Piece<T>::size, at_once = threads / lanes;
    static_assert(lanes <= 32 && 32 % lanes == 0 && Br % at_once == 0 && Br <= threads);
    const int lane = threadIdx.x % lanes;
#pragma unroll 2
    for (int r = threadIdx.x / lanes; r < Br; r += at_once) {
        float sum = 0;
        if (r < rows) {
            const auto o = load_piece(O.row(head, i + r) + lane * Piece<T>::size);
            const auto g = load_piece(dO.row(head, i + r) + lane * Piece<T>::size);
#pragma unroll
            for (int e = 0; e < Piece<T>::size; ++e) sum = fmaf(float(o.at[e]), float(g.at[e]), sum);
        }
#pragma unroll
        for (int step = 1; step < lanes; step *= 2) sum += __shfl_xor_sync(~0u, sum, step);
        if (lane == 0) sums[r] = sum;
    }
    __syncthreads();
    if (threadIdx.x < rows) D.row(head, i)[threadIdx.x] = sums[threadIdx.x];  // coalesced
}

/// Writes D of Br rows, and zeros to the same rows of each part of `zeroed`.
template <class T, int Br, int Dim, int DimV>
__global__ void __launch_bounds__(row_products_threads) row_products(RowProductsArgs<T> a) {
    __shared__ float sums[Br];
    const int head = blockIdx.y, i = blockIdx.x * Br, rows = min(Br, a.seq_q - i);
    row_product<row_products_threads, Br, DimV>(a.O, a.dO, a.D, head, i, rows, sums);
    if (!a.zeroed.data) return;
    constexpr int pieces = Dim / 4;
    for (int part = 0; part < a.parts; ++part)
        for (int k = threadIdx.x; k < rows * pieces; k += row_products_threads)
            store_wide(a.zeroed.row(head, part * a.seq_q + i + k / pieces) + k % pieces * 4, float4{});
}

/// The first launch: writes D, and zeros to all parts of `zeroed` if that has data.
template <class T, const KernelVariant& v>
void enqueue_row_products(const KernelCall& call, Global<float> zeroed, Index parts = 1) {
    const auto& t = call.tensors;
    const RowProductsArgs<T> args{Global<const T>(t["O"]),
                                  Global<const T>(t["dO"]),
                                  Global<float>(t["D"]),
                                  zeroed,
                                  static_cast<int>(call.problem.seq_q),
                                  static_cast<int>(parts)};
    enqueue("row_products", row_products<T, v.tile.br, v.dim, v.dim_v>,
            grid_of(ceil_div(call.problem.seq_q, v.tile.br), call.problem.batch_heads()), row_products_threads, 0,
            call.stream, args);
}

template <class T>
struct SumArgs {
    Global<const float> sums;
    Global<T> to;
    int seq_q, parts;
};

/// Writes Br rows in the storage type: each the sum of the row in all parts of `sums`, in the order of the parts.
template <class T, int Br, int Dim>
__global__ void __launch_bounds__(row_products_threads) add_up_rows(SumArgs<T> a) {
    constexpr int pieces = Dim / 4;
    const int head = blockIdx.y, i = blockIdx.x * Br, rows = min(Br, a.seq_q - i);
#pragma unroll 4
    for (int k = threadIdx.x; k < rows * pieces; k += row_products_threads) {
        const int row = i + k / pieces, col = k % pieces * 4;
        const auto of_part = [&](int part) {
            return load_past_l1(reinterpret_cast<const float4*>(a.sums.row(head, part * a.seq_q + row) + col));
        };
        float4 x = of_part(0);
        for (int part = 1; part < a.parts; ++part) {
            const float4 y = of_part(part);
            x.x += y.x, x.y += y.y, x.z += y.z, x.w += y.w;
        }
        alignas(4 * sizeof(T)) const T four[4] = {T(x.x), T(x.y), T(x.z), T(x.w)};
        using Wide = std::conditional_t<sizeof(T) == 4, float4, float2>;
        store_wide(reinterpret_cast<float*>(a.to.row(head, row) + col), reinterpret_cast<const Wide&>(four));
    }
}

/// The last launch, where dQ is summed in a tensor of its own (dQ~). `name` is what the simulated program calls it.
template <class T, const KernelVariant& v>
void enqueue_sums(const char* name, const KernelCall& call, Index parts = 1) {
    const SumArgs<T> args{Global<const float>(call.tensors["dQ~"]), Global<T>(call.tensors["dQ"]),
                          static_cast<int>(call.problem.seq_q), static_cast<int>(parts)};
    enqueue(name, add_up_rows<T, v.tile.br, v.dim>,
            grid_of(ceil_div(call.problem.seq_q, v.tile.br), call.problem.batch_heads()), row_products_threads, 0,
            call.stream, args);
}

}  // namespace tilescope::cuda
