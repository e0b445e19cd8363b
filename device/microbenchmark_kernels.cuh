// The kernels of the microbenchmarks. Each keeps one part of the GPU busy.
#pragma once

#include "device/microbenchmark.cuh"

namespace tilescope::device {

template <class Operation>
__global__ void operate(int turns, float start, Span* spans, float* sink) {
    float x[chains];
    for (int j = 0; j < chains; ++j) x[j] = start * static_cast<float>(threadIdx.x + j);
    timed(spans, [&] {
        for (int i = 0; i < turns; ++i) operate_once<Operation>(x);
    });
    float sum = 0;
    for (int j = 0; j < chains; ++j) sum += x[j];
    sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// ---- tensor cores ----

inline constexpr int mma_flops = 2 * 16 * 8 * 16;  // of one mma.sync m16n8k16
inline constexpr int mma_rounds = 4;
inline constexpr int mma_per_turn = chains * mma_rounds;

/// D = A B + D, A 16 x 16 and B 16 x 8 in f16, D in f32, all spread over the 32 lanes of a warp.
__device__ inline void multiply(float (&d)[4], const uint4& a, const uint2& b) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
}

/// An iteration is mma_per_turn products of each warp and then `exponentials` of each thread, as products and softmax
/// alternate in attention.
template <int exponentials>
__global__ void multiply_matrices(int turns, Span* spans, float* sink) {
    const std::uint32_t seed = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    const uint4 a{two_halves(seed), two_halves(seed + 1), two_halves(seed + 2), two_halves(seed + 3)};
    uint2 b[2];
    for (std::uint32_t j = 0; j < 2; ++j) b[j] = {two_halves(seed + 2 * j + 4), two_halves(seed + 2 * j + 5)};
    float d[chains][4] = {}, e[chains] = {};
    timed(spans, [&] {
        for (int i = 0; i < turns; ++i) {
#pragma unroll
            for (int k = 0; k < mma_per_turn; ++k) multiply(d[k % chains], a, b[k % 2]);
#pragma unroll
            for (int k = 0; k < exponentials; ++k) Exponential::apply(e[k % chains], 0, 0);
        }
    });
    float sum = 0;
    for (int j = 0; j < chains; ++j) sum += d[j][0] + d[j][1] + d[j][2] + d[j][3] + e[j];
    sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// ---- memory ----

/// Every thread block reads its own `count` words of 16 bytes from L2, past L1. A thread has `under_way` loads in
/// flight at a time; `count` is a multiple of `under_way` times the threads of a block.
template <int under_way>
__global__ void read_parts(const uint4* data, int count, int passes, Span* spans, std::uint32_t* sink) {
    data += std::size_t{blockIdx.x} * static_cast<std::size_t>(count);
    const int threads = static_cast<int>(blockDim.x);
    std::uint32_t sum = 0;
    timed(spans, [&] {
        for (int pass = 0; pass < passes; ++pass)
#pragma unroll 1
            for (int i = static_cast<int>(threadIdx.x); i < count; i += under_way * threads) {
                uint4 x[under_way];
#pragma unroll
                for (int j = 0; j < under_way; ++j)
                    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                                 : "=r"(x[j].x), "=r"(x[j].y), "=r"(x[j].z), "=r"(x[j].w)
                                 : "l"(data + i + j * threads));
#pragma unroll
                for (int j = 0; j < under_way; ++j) sum += x[j].x ^ x[j].y ^ x[j].z ^ x[j].w;
            }
    });
    sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

inline constexpr int shared_reads = 8;  // loads of a thread in one iteration

/// Every warp reads neighbouring 16-byte words of shared memory, 512 bytes at a time, without bank conflicts.
static __global__ void read_shared(int turns, Span* spans, std::uint32_t* sink) {
    __shared__ uint4 words[1024];
    for (int i = static_cast<int>(threadIdx.x); i < 1024; i += static_cast<int>(blockDim.x))
        words[i] = {threadIdx.x, 1, 2, 3};
    const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(words + threadIdx.x % 512));
    std::uint32_t sum = 0;
    timed(spans, [&] {
        for (int i = 0; i < turns; ++i) {
            uint4 x[shared_reads];
#pragma unroll
            for (int j = 0; j < shared_reads; ++j)
                asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                             : "=r"(x[j].x), "=r"(x[j].y), "=r"(x[j].z), "=r"(x[j].w)
                             : "r"(from + static_cast<std::uint32_t>(j) * 1024));
#pragma unroll
            for (int j = 0; j < shared_reads; ++j) sum += x[j].x;
        }
    });
    sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

inline constexpr int copied_at_once = 4;

static __global__ void copy_words(const uint4* from, uint4* to, std::size_t count) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += copied_at_once * threads) {
        uint4 x[copied_at_once];
#pragma unroll
        for (int j = 0; j < copied_at_once; ++j)
            if (i + j * threads < count) x[j] = from[i + j * threads];
#pragma unroll
        for (int j = 0; j < copied_at_once; ++j)
            if (i + j * threads < count) to[i + j * threads] = x[j];
    }
}

inline constexpr std::size_t line = 128;  // bytes of a cache line

/// Links `count` cache lines, a power of 2, to one ring: each begins with the address of the next one. The order is
/// that of a linear congruential generator of full period, so that no prefetcher can predict it.
static __global__ void link_lines(char* lines, std::uint32_t count) {
    const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const std::uint32_t next = (i * 1664525u + 1013904223u) & (count - 1);
    *reinterpret_cast<const char**>(lines + i * line) = lines + next * line;
}

inline constexpr int steps_per_turn = 16;

/// One thread follows the ring from `at`, and stores in `at` where it stopped.
static __global__ void chase(const char** at, int turns, Span* spans) {
    const char* p = *at;
    timed(spans, [&] {
        for (int i = 0; i < turns; ++i)
#pragma unroll
            for (int k = 0; k < steps_per_turn; ++k) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p));
    });
    *at = p;
}

static __global__ void nothing() {}

}  // namespace tilescope::device
