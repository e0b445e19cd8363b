// What microbenchmarks' kernels share: spans, operations on CUDA cores, and numbers to multiply. The loops that are
// timed are of volatile PTX whose results are stored, so that the compiler cannot shorten them.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace tilescope::device {

/// When a warp's loop began and ended: by the cycle counter of its SM, and in nanoseconds.
struct Span {
    long long first_cycle, last_cycle, first_ns, last_ns;
};

__device__ inline long long nanoseconds() {
    long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

template <class Loop>
__device__ inline Span span_of(Loop&& loop) {
    Span s;
    s.first_ns = nanoseconds();
    s.first_cycle = clock64();
    loop();
    s.last_cycle = clock64();
    s.last_ns = nanoseconds();
    return s;
}

/// Starts `loop` in all warps of a thread block at once and stores each warp's span.
template <class Loop>
__device__ inline void timed(Span* spans, Loop&& loop) {
    __syncthreads();
    const Span s = span_of(loop);
    if (threadIdx.x % 32 == 0) spans[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = s;
}

// ---- operations on 32-bit numbers, of one and up to two others ----

struct Fma {
    __device__ static void apply(float& x, float y, float) {
        asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y));
    }
};
struct Maximum {
    __device__ static void apply(float& x, float y, float) { asm volatile("max.f32 %0, %0, %1;" : "+f"(x) : "f"(y)); }
};
/// Converts two f32 numbers to f16 in one instruction.
struct Conversion {
    __device__ static void apply(float& x, float y, float) {
        std::uint32_t halves;
        asm volatile("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(x), "f"(y));
        x = __uint_as_float(halves);
    }
};
struct Exponential {
    __device__ static void apply(float& x, float, float) { asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)); }
};
/// The exponential of a scaled difference, as softmax has it.
struct ScaledExponential {
    __device__ static void apply(float& x, float y, float z) {
        asm volatile("fma.rn.f32 %0, %0, %1, %2; ex2.approx.ftz.f32 %0, %0;" : "+f"(x) : "f"(y), "f"(z));
    }
};
struct Shuffle {
    __device__ static void apply(float& x, float, float) {
        asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;" : "+f"(x));
    }
};

inline constexpr int chains = 8;  // independent sequences of operations in a thread
inline constexpr int rounds = 8;  // operations of each chain in one iteration of the loop
inline constexpr int per_turn = chains * rounds;

/// per_turn operations of each thread.
template <class Operation>
__device__ inline void operate_once(float (&x)[chains]) {
#pragma unroll
    for (int k = 0; k < per_turn; ++k) Operation::apply(x[k % chains], x[(k + 1) % chains], x[(k + 2) % chains]);
}

// ---- operands of products ----

/// Two pseudo-random f16 numbers in [-1, 1). Power, and with it the clock, depends on the data.
__device__ inline std::uint32_t two_halves(std::uint32_t seed) {
    const std::uint32_t bits = (seed * 747796405u + 2891336453u) * 277803737u;
    const float low = static_cast<float>(bits & 0xffff) / 32768 - 1, high = static_cast<float>(bits >> 16) / 32768 - 1;
    std::uint32_t halves;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(high), "f"(low));
    return halves;
}

}  // namespace tilescope::device
