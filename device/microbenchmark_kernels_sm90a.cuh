// Kernels of microbenchmarks that use what compute capability 9.0 alone has: wgmma; and of bulk copies and barriers.
#pragma once

#include <cuda.h>

#include "algorithms/cuda/hopper.cuh"
#include "algorithms/cuda/wgmma.cuh"
#include "device/microbenchmark.cuh"

namespace tilescope::device {

// ---- wgmma ----

// The names of n / 2 accumulators of a thread in an asm statement, and the accumulators themselves.
#define TILESCOPE_NAMES_32                                                                                 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, " \
    "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define TILESCOPE_NAMES_64                                                                                   \
    TILESCOPE_NAMES_32                                                                                       \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, " \
    "%52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TILESCOPE_NAMES_128                                                                                    \
    TILESCOPE_NAMES_64                                                                                         \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, "   \
    "%84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, " \
    "%104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, "   \
    "%121, %122, %123, %124, %125, %126, %127"
#define TILESCOPE_4(k) "+f"(d[k]), "+f"(d[k + 1]), "+f"(d[k + 2]), "+f"(d[k + 3])
#define TILESCOPE_16(k) TILESCOPE_4(k), TILESCOPE_4(k + 4), TILESCOPE_4(k + 8), TILESCOPE_4(k + 12)
#define TILESCOPE_32(k) TILESCOPE_16(k), TILESCOPE_16(k + 16)
#define TILESCOPE_64(k) TILESCOPE_32(k), TILESCOPE_32(k + 32)
#define TILESCOPE_128(k) TILESCOPE_64(k), TILESCOPE_64(k + 64)

// D = A B + D in f16 into f32, A 64 x 16, B 16 x n in shared memory: with A in shared memory, and in registers.
#define TILESCOPE_MULTIPLY(n, count, a0, a1, a2, a3, a4)                                                              \
    __device__ inline void multiply(float(&d)[count], std::uint64_t a, std::uint64_t b) {                             \
        asm volatile("{.reg .pred p; setp.eq.u32 p, 1, 1; wgmma.mma_async.sync.aligned.m64n" #n                       \
                     "k16.f32.f16.f16 {" TILESCOPE_NAMES_##count "}, %" #a0 ", %" #a1 ", p, 1, 1, 0, 0;}"             \
                     : TILESCOPE_##count(0)                                                                           \
                     : "l"(a), "l"(b));                                                                               \
    }                                                                                                                 \
    __device__ inline void multiply(float(&d)[count], const uint4& a, std::uint64_t b) {                              \
        asm volatile("{.reg .pred p; setp.eq.u32 p, 1, 1; wgmma.mma_async.sync.aligned.m64n" #n                       \
                     "k16.f32.f16.f16 {" TILESCOPE_NAMES_##count "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #a4 \
                                                                 ", p, 1, 1, 0;}"                                     \
                     : TILESCOPE_##count(0)                                                                           \
                     : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "l"(b));                                               \
    }
TILESCOPE_MULTIPLY(64, 32, 32, 33, 34, 35, 36)
TILESCOPE_MULTIPLY(128, 64, 64, 65, 66, 67, 68)
TILESCOPE_MULTIPLY(256, 128, 128, 129, 130, 131, 132)

inline constexpr int warpgroup = 128;         // threads
inline constexpr int a_words = 64 * 64 / 2;   // of a tile of A of a warpgroup, two f16 numbers each
inline constexpr int b_words = 256 * 64 / 2;  // of the tile of B, of which products with a smaller n take a part
inline constexpr int products_shared = 1024 + 4 * (2 * a_words + b_words);

/// The start of dynamic shared memory, at a multiple of 1,024 bytes, as swizzled tiles need it.
__device__ inline char* shared_tiles() {
    extern __shared__ char shared[];
    return shared + (1024 - cuda::shared_address(shared) % 1024) % 1024;
}

/// How wgmma finds a tile of 64 columns in f16, in rows of 128 bytes, swizzled. The next 16 columns are 2 more.
__device__ inline std::uint64_t descriptor(const std::uint32_t* tile) {
    return cuda::operand(cuda::shared_address(tile), 16);
}

/// Tiles of random numbers in shared memory.
struct Operands {
    std::uint64_t a, b;  ///< descriptors
    uint4 in_registers;

    __device__ Operands() {
        auto* const words = reinterpret_cast<std::uint32_t*>(shared_tiles());
        for (unsigned k = threadIdx.x; k < 2 * a_words + b_words; k += blockDim.x) words[k] = two_halves(k);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        a = descriptor(words + b_words + threadIdx.x / warpgroup % 2 * a_words), b = descriptor(words);
        const std::uint32_t seed = 4 * threadIdx.x;
        in_registers = {two_halves(seed), two_halves(seed + 1), two_halves(seed + 2), two_halves(seed + 3)};
    }
};

/// A batch of products, and the wait for it.
template <bool a_in_registers, int count>
__device__ inline void multiply_batch(float (&d)[count], const Operands& of, int products) {
    cuda::begin_products();
#pragma unroll
    for (int k = 0; k < products; ++k) {
        const auto step = static_cast<std::uint64_t>(2 * (k % 4));
        if constexpr (a_in_registers)
            multiply(d, of.in_registers, of.b + step);
        else
            multiply(d, of.a + step, of.b + step);
    }
    cuda::end_products();
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

template <int count>
__device__ inline float sum_of(const float (&d)[count]) {
    float sum = 0;
    for (int j = 0; j < count; ++j) sum += d[j];
    return sum;
}

inline constexpr int products_of_batch = 8;

/// Batches of `products` wgmma m64n<n>k16 and a wait for each, by every warpgroup.
template <int n, bool a_in_registers, int products>
__global__ __launch_bounds__(2 * warpgroup, 1) void multiply_tiles(int turns, Span* spans, float* sink) {
    const Operands operands;
    float d[n / 2] = {};
    timed(spans, [&] {
        for (int i = 0; i < turns; ++i) multiply_batch<a_in_registers>(d, operands, products);
    });
    sink[blockIdx.x * blockDim.x + threadIdx.x] = sum_of(d);
}

/// Two warpgroups multiply, m64n128, and a third one operates on CUDA cores. Spans are those of the two, or of the
/// third; the others run longer.
template <class Operation>
__global__ __launch_bounds__(3 * warpgroup, 1) void operate_beside(int batches, int turns, bool of_products,
                                                                   Span* spans, float* sink) {
    const Operands operands;
    const bool multiplies = threadIdx.x >= warpgroup;
    Span s;
    float result;
    if (multiplies) {
        float d[64] = {};
        s = span_of([&] {
            for (int i = 0; i < batches; ++i) multiply_batch<false>(d, operands, products_of_batch);
        });
        result = sum_of(d);
    } else {
        float x[chains];
        for (int j = 0; j < chains; ++j) x[j] = 0.5F * static_cast<float>(threadIdx.x + j);
        s = span_of([&] {
            for (int i = 0; i < turns; ++i) operate_once<Operation>(x);
        });
        result = sum_of(x);
    }
    sink[blockIdx.x * blockDim.x + threadIdx.x] = result;
    if (multiplies != of_products || threadIdx.x % 32 != 0) return;
    const unsigned warps = (of_products ? 2 : 1) * warpgroup / 32;
    spans[blockIdx.x * warps + (threadIdx.x - (of_products ? warpgroup : 0)) / 32] = s;
}

// ---- barriers and shuffles ----

/// Two warpgroups hand on a turn to each other with named barriers.
static __global__ void hand_on(int turns, Span* spans) {
    const bool first = threadIdx.x < warpgroup;
    timed(spans, [&] {
        if (first)
            for (int i = 0; i < turns; ++i) {
                asm volatile("bar.arrive 1, 256;" ::: "memory");
                asm volatile("bar.sync 2, 256;" ::: "memory");
            }
        else
            for (int i = 0; i < turns; ++i) {
                asm volatile("bar.sync 1, 256;" ::: "memory");
                asm volatile("bar.arrive 2, 256;" ::: "memory");
            }
    });
}

__device__ inline void start_barrier(std::uint64_t* barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(
                     cuda::shared_address(barrier))
                 : "memory");
}
__device__ inline void arrive(std::uint64_t* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(cuda::shared_address(barrier)) : "memory");
}
/// Waits until the barrier's phase of this parity is over.
__device__ inline void wait(std::uint64_t* barrier, int parity) {
    asm volatile(
        "{.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;}" ::"r"(cuda::shared_address(barrier)),
        "r"(parity)
        : "memory");
}

/// The same by two threads of two warps, with mbarriers, as who fills a slot and who reads it do.
static __global__ void hand_on_slots(int turns, Span* spans) {
    __shared__ std::uint64_t barriers[2];
    if (threadIdx.x == 0) start_barrier(barriers), start_barrier(barriers + 1);
    const unsigned warp = threadIdx.x / 32;
    timed(spans, [&] {
        if (threadIdx.x % 32 != 0) return;
        for (int i = 0; i < turns; ++i) {
            if (warp == 0) arrive(barriers);
            wait(barriers + (1 - warp), i % 2);
            if (warp == 1) arrive(barriers + 1);
        }
    });
}

inline constexpr int rows_per_turn = 16;

/// One warp takes maxima over the four threads that share a row: two shuffles, each with a maximum.
static __global__ void reduce_rows(int turns, Span* spans, float* sink) {
    float x = static_cast<float>(threadIdx.x);
    timed(spans, [&] {
        for (int i = 0; i < turns; ++i)
#pragma unroll
            for (int k = 0; k < rows_per_turn; ++k)
                asm volatile(
                    "{.reg .f32 other;\n"
                    "shfl.sync.bfly.b32 other, %0, 1, 31, 0xffffffff; max.f32 %0, %0, other;\n"
                    "shfl.sync.bfly.b32 other, %0, 2, 31, 0xffffffff; max.f32 %0, %0, other;}"
                    : "+f"(x));
    });
    sink[threadIdx.x] = x;
}

// ---- bulk copies ----

inline constexpr int box_cols = 64, box_rows = 128;        // f16: what one copy takes
inline constexpr int box_bytes = 2 * box_cols * box_rows;  // 16 KiB
inline constexpr int matrix_cols = 2 * box_cols;           // of the matrix that boxes are cut from

/// What thread blocks copy: `group` neighbours the same boxes of a matrix, one after the other and round again.
struct Boxes {
    int group, number;  ///< `number`: a power of 2
};

/// The boxes of this thread block. One thread issues copies: it divides before it begins.
class Copies {
  public:
    __device__ Copies(const CUtensorMap& matrix, const Boxes& boxes)
        : matrix_(matrix), first_(static_cast<int>(blockIdx.x) / boxes.group * boxes.number), mask_(boxes.number - 1) {}

    __device__ void start(int k, std::uint32_t to, std::uint32_t full) const {
        const int box = first_ + (k & mask_);
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                "r"(to),
            "l"(&matrix_), "r"(box % 2 * box_cols), "r"(box / 2 * box_rows), "r"(full)
            : "memory");
    }

  private:
    const CUtensorMap& matrix_;
    const int first_, mask_;
};

__device__ inline void expect(std::uint64_t* full, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(cuda::shared_address(full)), "r"(bytes)
                 : "memory");
}

inline constexpr int slots = 4, boxes_of_slot = 2;

/// One thread keeps all slots under way, each with its boxes.
static __global__ void copy_boxes(const __grid_constant__ CUtensorMap matrix, Boxes boxes, int turns, Span* spans) {
    __shared__ std::uint64_t full[slots];
    const std::uint32_t tiles = cuda::shared_address(shared_tiles());
    const Copies copies(matrix, boxes);
    if (threadIdx.x == 0)
        for (int k = 0; k < slots; ++k) start_barrier(full + k);
    timed(spans, [&] {
        if (threadIdx.x != 0) return;
        for (int i = 0; i < turns; ++i)
#pragma unroll
            for (int slot = 0; slot < slots; ++slot) {
                if (i > 0) wait(full + slot, (i - 1) % 2);
                expect(full + slot, boxes_of_slot * box_bytes);
#pragma unroll
                for (int b = 0; b < boxes_of_slot; ++b)
                    copies.start((slots * i + slot) * boxes_of_slot + b, tiles + (boxes_of_slot * slot + b) * box_bytes,
                                 cuda::shared_address(full + slot));
            }
        for (int slot = 0; slot < slots; ++slot) wait(full + slot, (turns - 1) % 2);
    });
}

/// One thread copies boxes and waits for them, and then long enough for its SM to be idle. No two thread blocks begin
/// at the same time. Spans are the sums of the waits for boxes, without the first ones.
template <int at_once>
__global__ void copy_after_idling(const __grid_constant__ CUtensorMap matrix, Boxes boxes, int turns, Span* spans) {
    constexpr int pace = 16384, cold = 4;
    __shared__ std::uint64_t full;
    const std::uint32_t tiles = cuda::shared_address(shared_tiles());
    const Copies copies(matrix, boxes);
    if (threadIdx.x != 0) return;
    start_barrier(&full);
    long long next = clock64() + blockIdx.x * 1237 % 4096, waited = 0;
    for (int i = -cold; i < turns; ++i, next += pace) {
        while (clock64() < next) {
        }
        const long long began = clock64();
        expect(&full, at_once * box_bytes);
#pragma unroll
        for (int b = 0; b < at_once; ++b)
            copies.start(at_once * i + b, tiles + b * box_bytes, cuda::shared_address(&full));
        wait(&full, i & 1);
        if (i >= 0) waited += clock64() - began;
    }
    spans[blockIdx.x] = {0, waited, 0, 0};
}

}  // namespace tilescope::device
