// What flash_v3's kernel needs for 8 bits. Values are stored divided by scales. P has four numbers in a register. And V
// has to lie along keys: tensor cores turn operands of 16 bits, not of 8 (PTX ISA, "wgmma.mma_async": only for .f16 and
// .bf16 can a matrix in shared memory be transposed). So the warps of the producers turn each tile of V.
//
// They put keys in an order in which no lane has to trade numbers of P. wgmma left lane q of a quad the columns 2 q,
// 2 q + 1, 8 + 2 q and 9 + 2 q of each 16 of S, and reads from it four neighbours of each 16 columns of P, 4 q to
// 4 q + 3. Within a product sums over keys have no order: these four neighbours are those four keys, in P and in V^T.
#pragma once

#include "algorithms/contract/scales.hpp"
#include "algorithms/cuda/hopper.cuh"
#include "algorithms/cuda/wgmma.cuh"

namespace tilescope::flash_v3 {

/// By what products of stored values are multiplied. Where values have no scales: 1, known to the compiler for 16 bits.
template <bool eight_bits>
struct Scales {
    explicit Scales(const KernelCall&) {}
    __device__ float of_scores(int) const { return 1; }
    __device__ float of_values(int) const { return 1; }
};
template <>
struct Scales<true> {
    const float *Q = nullptr, *K = nullptr, *V = nullptr;
    int step = 0;  ///< from the scale of a head of K and V, and its queries, to the next; 0: one for all

    explicit Scales(const KernelCall& call) {
        if (call.problem.scales == Scaling::none) return;
        const auto data = [&](const char* of) {
            const DeviceTensor t = call.tensors[scales_tensor(of)];
            if (call.problem.scales == Scaling::head) step = static_cast<int>(t.layout.slice);
            return static_cast<const float*>(t.data);
        };
        Q = data("Q"), K = data("K"), V = data("V");
    }
    __device__ float of_scores(int kv) const { return Q ? Q[kv * step] * K[kv * step] : 1; }
    __device__ float of_values(int kv) const { return V ? V[kv * step] : 1; }
};

/// Four numbers as e4m3 each, the greatest where they are beyond it.
__device__ inline unsigned pack_e4m3(float x0, float x1, float x2, float x3) {
    unsigned all;
    asm("{\n.reg .b16 low, high;\ncvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n"
        "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\nmov.b32 %0, {low, high};\n}"
        : "=r"(all)
        : "f"(x0), "f"(x1), "f"(x2), "f"(x3));
    return all;
}

/// P in 8 bits. Register i of a product has row i % 2 of the two, and 16 keys of 32, which lie as said above.
template <int n>
__device__ inline void round_to_eight_bits(unsigned (&p)[n / 16][4], const float (&s)[n]) {
#pragma unroll
    for (int i = 0; i < n / 4; ++i) {
        const float* const x = s + i / 4 * 16 + i % 4 / 2 * 8 + i % 2 * 2;
        p[i / 4][i % 4] = pack_e4m3(x[0], x[1], x[4], x[5]);
    }
}

/// Turns tiles of `keys` rows of `dim` bytes, a warp of four its columns. V^T has panels of 128 keys, whose rows of 128
/// bytes are swizzled.
template <int keys, int dim>
class Turner {
  public:
    static constexpr int panel = dim * cuda::row_of_panel, bytes = (keys + 127) / 128 * panel;

    __device__ explicit Turner(int warp) {
        const int lane = threadIdx.x % 32, matrix = lane / 8, r = lane % 8, odd = (r >= 4) ^ (matrix % 2);
        // Rows of V: 8 keys of each matrix. Chunks of 16 bytes are swizzled with the row, or, of rows of 64 bytes, with
        // every second row.
        from_ = (8 * matrix + r) * dim + ((dim == 64 ? r / 2 : r) ^ warp) * 16;
        // Rows of V^T: columns 2 r and 2 r + 1 of 16. A matrix has the even one of the first four pairs and the odd one
        // of the others, the next matrix the rest, so that eight stores of a row meet in no bank.
        to_ = (16 * warp + 2 * r + odd) * cuda::row_of_panel + ((2 * r + odd) % 8 ^ matrix / 2) * 16;
        bytes_ = lane < 16 ? 0x6420 : 0x7531;  // this lane's pair of columns, in the registers, is lane / 4
    }

    __device__ void turn(const unsigned char* v, unsigned char* vt) const {
        static_assert(keys % 32 == 0 && dim % 64 == 0);
#pragma unroll
        for (int c = 0; c < dim; c += 64) {  // 16 columns at once
            const unsigned from = cuda::shared_address(v) + (from_ ^ c),
                           to = cuda::shared_address(vt) + to_ + c * cuda::row_of_panel;
#pragma unroll
            for (int k = 0; k < keys; k += 32) {
                unsigned x[4], y[4];
                load(x, from + k * dim);
                y[0] = __byte_perm(x[0], x[1], bytes_), y[1] = __byte_perm(x[0], x[1], bytes_ ^ 0x1111);
                y[2] = __byte_perm(x[2], x[3], bytes_), y[3] = __byte_perm(x[2], x[3], bytes_ ^ 0x1111);
                store((to + k / 128 * panel) ^ k % 128, y);
            }
        }
    }

  private:
    unsigned from_, to_, bytes_;

    /// Of a matrix of 8 keys and 8 pairs of columns, lane 4 g + q gets keys 2 q and 2 q + 1 of pair g.
    __device__ static void load(unsigned (&x)[4], unsigned address) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(address)
                     : "memory");
    }
    /// Lane 4 g + q stores bytes 4 q to 4 q + 3 of row g.
    __device__ static void store(unsigned address, const unsigned (&y)[4]) {
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(y[0]),
                     "r"(y[1]), "r"(y[2]), "r"(y[3])
                     : "memory");
    }
};

}  // namespace tilescope::flash_v3
