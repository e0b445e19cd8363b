// What 8 bits cost on tensor cores that warps drive one by one (mma.sync), and to convert: operations a cycle and SM.
// Prints CSV; docs/measured/h200/forward/float8.csv has it. Warpgroups' products (wgmma) are in wgmma.txt beside it.
//     nvcc -std=c++20 -O3 -arch=sm_90a bench/float8.cu -o float8 && ./float8
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

constexpr int at_once = 8, turns = 2000;

void check(cudaError_t result) {
    if (result == cudaSuccess) return;
    std::fprintf(stderr, "float8: %s\n", cudaGetErrorString(result));
    std::exit(1);
}

struct Registers {
    float sums[at_once][4] = {};
    std::uint32_t words[at_once];
};
/// What the conversion before left, so that none can be left out.
__device__ float number(const Registers& r, int k) { return __uint_as_float(r.words[k]); }

#define PRODUCT(name, shape, types, constraint, type)                                                             \
    struct name {                                                                                                 \
        __device__ static void apply(Registers& r, int k) {                                                       \
            type* const c = reinterpret_cast<type*>(r.sums[k]);                                                   \
            asm volatile("mma.sync.aligned." shape ".row.col." types                                              \
                         " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                       \
                         : "+" constraint(c[0]), "+" constraint(c[1]), "+" constraint(c[2]), "+" constraint(c[3]) \
                         : "r"(r.words[0]), "r"(r.words[1]), "r"(r.words[2]), "r"(r.words[3]),                    \
                           "r"(__float_as_uint(r.sums[k][0])), "r"(__float_as_uint(r.sums[k][1])));               \
        }                                                                                                         \
    }
PRODUCT(ProductF16, "m16n8k16", "f32.f16.f16.f32", "f", float);
PRODUCT(ProductE4m3, "m16n8k32", "f32.e4m3.e4m3.f32", "f", float);
PRODUCT(ProductE5m2, "m16n8k32", "f32.e5m2.e5m2.f32", "f", float);
PRODUCT(ProductS8, "m16n8k32", "s32.s8.s8.s32", "r", int);
#undef PRODUCT

struct F32ToF16x2 {
    __device__ static void apply(Registers& r, int k) {
        std::uint32_t to;
        asm volatile("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(to) : "f"(number(r, k)), "f"(number(r, k)));
        r.words[k] = to;
    }
};
struct F32ToE4m3x2 {
    __device__ static void apply(Registers& r, int k) {
        std::uint16_t to;
        asm volatile("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(to) : "f"(number(r, k)), "f"(number(r, k)));
        r.words[k] = to;
    }
};
struct F16x2ToE4m3x2 {
    __device__ static void apply(Registers& r, int k) {
        std::uint16_t to;
        asm volatile("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(to) : "r"(r.words[k]));
        r.words[k] = to;
    }
};
struct E4m3x2ToF16x2 {
    __device__ static void apply(Registers& r, int k) {
        std::uint32_t to;
        asm volatile("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(to) : "h"(static_cast<std::uint16_t>(r.words[k])));
        r.words[k] = to;
    }
};

template <class Operation>
__global__ void repeat(long long* cycles, float* sink) {
    Registers r;
    for (int k = 0; k < at_once; ++k) r.words[k] = threadIdx.x * (k + 1);
    __syncthreads();
    const long long begin = clock64();
    for (int t = 0; t < turns; ++t)
#pragma unroll
        for (int k = 0; k < at_once; ++k) Operation::apply(r, k);
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
    float sum = 0;
    for (int k = 0; k < at_once; ++k)
        sum += r.sums[k][0] + r.sums[k][1] + r.sums[k][2] + r.sums[k][3] + static_cast<float>(r.words[k]);
    sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// Instructions of a warp in a cycle of an SM, in lanes: `each` counts what a warp's instruction does.
template <class Operation>
void print(const char* what, double each, int sms) {
    for (const int warps : {4, 8, 16}) {
        long long* cycles;
        float* sink;
        check(cudaMalloc(&cycles, sms * sizeof *cycles));
        check(cudaMalloc(&sink, static_cast<std::size_t>(sms) * warps * 32 * sizeof *sink));
        for (int k = 0; k < 3; ++k) repeat<Operation><<<sms, warps * 32>>>(cycles, sink);
        check(cudaDeviceSynchronize());
        std::vector<long long> all(sms);
        check(cudaMemcpy(all.data(), cycles, sms * sizeof *cycles, cudaMemcpyDeviceToHost));
        const double mean = static_cast<double>(std::accumulate(all.begin(), all.end(), 0ll)) / sms;
        std::printf("%s,%d,%.1f\n", what, warps, each * warps * at_once * turns / mean);
        check(cudaFree(cycles));
        check(cudaFree(sink));
    }
}

}  // namespace

int main() {
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
    const int sms = device.multiProcessorCount;
    constexpr double of_16 = 2 * 16 * 8 * 16, of_32 = 2 * 16 * 8 * 32, values = 2 * 32;
    std::printf("# device: %s\noperation,warps,per_cycle\n", device.name);
    print<ProductF16>("mma f16 (FLOPs)", of_16, sms);
    print<ProductE4m3>("mma e4m3 (FLOPs)", of_32, sms);
    print<ProductE5m2>("mma e5m2 (FLOPs)", of_32, sms);
    print<ProductS8>("mma s8 (operations)", of_32, sms);
    print<F32ToF16x2>("f32 to f16 (values)", values, sms);
    print<F32ToE4m3x2>("f32 to e4m3 (values)", values, sms);
    print<F16x2ToE4m3x2>("f16 to e4m3 (values)", values, sms);
    print<E4m3x2ToF16x2>("e4m3 to f16 (values)", values, sms);
}
