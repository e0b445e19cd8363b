// What it costs to turn V for products of 8 bits (flash_v3's Turner), alone and beside such products, and what these
// lose by it: bytes, or FLOPs, a cycle and SM; with what has to stand around it, cycles a tile. Prints CSV;
// docs/measured/h200/forward/float8_turning.csv has it.
//     nvcc -std=c++20 -O3 -I. --expt-relaxed-constexpr -gencode arch=compute_90a,code=sm_90a bench/float8_turning.cu \
//         -o float8_turning && ./float8_turning
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "algorithms/attention/flash_v3/kernel_eight_bits.cuh"

namespace {

using namespace tilescope::cuda;

constexpr int keys = 128, dim = 128, tile = keys * dim, at_once = 8;
using Turner = tilescope::flash_v3::Turner<keys, dim>;

void require(cudaError_t result) {
    if (result == cudaSuccess) return;
    std::fprintf(stderr, "float8_turning: %s\n", cudaGetErrorString(result));
    std::exit(1);
}

struct Memory {
    alignas(1024) unsigned char v[tile], vt[tile], a[64 * 128], b[tile];
    Barrier there, free;
};

/// What stands around a tile.
enum class Around { nothing, fence, named_barrier, handshake };

/// Warpgroup 0 turns `turns` tiles; the others ask for `batches` of products of 64 x 128 x 32 each.
template <Around around>
__global__ void __launch_bounds__(512, 1)
    run(int turns, int batches, long long* turning, long long* multiplying, float* sink) {
    extern __shared__ __align__(1024) unsigned char memory[];
    Memory& shared = *reinterpret_cast<Memory*>(memory);
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
    for (unsigned i = threadIdx.x; i < sizeof shared.v; i += blockDim.x)
        shared.v[i] = shared.b[i] = shared.a[i % sizeof shared.a] = i * 7 % 64 + 8;
    if (threadIdx.x == 0) shared.there.init(4), shared.free.init(1), barriers_are_ready();
    show_to_products();
    __syncthreads();
    const long long begin = clock64();
    if (warp < 4) {
        const Turner turner(warp);
        for (int t = 0; t < turns; ++t) {
            if (around == Around::handshake) shared.free.wait(t % 2 ^ 1);
            turner.turn(shared.v, shared.vt);
            if (around != Around::nothing) show_to_products();
            if (around == Around::named_barrier) asm volatile("bar.sync 1, 128;" ::: "memory");
            if (around == Around::handshake) {
                __syncwarp();
                if (threadIdx.x % 32 == 0) shared.there.arrive();
            }
        }
        if (threadIdx.x == 0) turning[blockIdx.x] = clock64() - begin;
    } else if (around == Around::handshake) {
        if (threadIdx.x == 128)
            for (int t = 0; t < turns; ++t) shared.there.wait(t % 2), shared.free.arrive();
    } else {
        float c[64];
        for (float& x : c) x = 0;
        const std::uint64_t a = operand(shared_address(shared.a), tile), b = operand(shared_address(shared.b), tile);
        for (int n = 0; n < batches; ++n) {
            begin_products();
#pragma unroll
            for (int k = 0; k < at_once; ++k)
                Wgmma<128>::scores<__nv_fp8_e4m3>(c, a + address_bits(k % 4 * row_of_product),
                                                  b + address_bits(k % 4 * row_of_product), true);
            end_products();
            wait_for_products<0>(c);
        }
        if (threadIdx.x == 128) multiplying[blockIdx.x] = clock64() - begin;
        float sum = 0;
        for (const float x : c) sum += x;
        sink[blockIdx.x * 512 + threadIdx.x] = sum;
    }
}

struct Cycles {
    double turning, multiplying;
};

template <Around around>
Cycles cycles(int multipliers, int turns, int batches, int sms) {
    long long* of;
    float* sink;
    require(cudaMalloc(&of, 2 * sms * sizeof *of));
    require(cudaMemset(of, 0, 2 * sms * sizeof *of));
    require(cudaMalloc(&sink, 512 * sms * sizeof *sink));
    require(cudaFuncSetAttribute(run<around>, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Memory)));
    for (int k = 0; k < 3; ++k)
        run<around><<<sms, 128 * (1 + multipliers), sizeof(Memory)>>>(turns, batches, of, of + sms, sink);
    require(cudaDeviceSynchronize());
    std::vector<long long> all(2 * sms);
    require(cudaMemcpy(all.data(), of, all.size() * sizeof *of, cudaMemcpyDeviceToHost));
    Cycles mean = {};
    for (int k = 0; k < sms; ++k)
        mean.turning += static_cast<double>(all[k]) / sms, mean.multiplying += static_cast<double>(all[sms + k]) / sms;
    require(cudaFree(of));
    require(cudaFree(sink));
    return mean;
}

}  // namespace

int main() {
    cudaDeviceProp device;
    require(cudaGetDeviceProperties(&device, 0));
    const int sms = device.multiProcessorCount;
    constexpr double flops = 2.0 * 64 * 128 * 32 * at_once;
    constexpr int few = 1000, many = 20000;  // the longer one is at work all the time
    std::printf("# device: %s\noperation,warpgroups of products,value\n", device.name);
    constexpr auto nothing = Around::nothing;
    std::printf("turning alone (bytes a cycle),0,%.1f\n", tile * double{few} / cycles<nothing>(0, few, 0, sms).turning);
    for (const int m : {1, 2, 3}) {
        std::printf("products alone (FLOPs a cycle),%d,%.0f\n", m,
                    m * flops * few / cycles<nothing>(m, 0, few, sms).multiplying);
        std::printf("turning beside products (bytes a cycle),%d,%.1f\n", m,
                    tile * double{few} / cycles<nothing>(m, few, many, sms).turning);
        std::printf("products beside turning (FLOPs a cycle),%d,%.0f\n", m,
                    m * flops * few / cycles<nothing>(m, many, few, sms).multiplying);
    }
    const auto around = [&](const char* what, const Cycles& c) {
        std::printf("%s (cycles a tile),0,%.0f\n", what, c.turning / few);
    };
    around("turning", cycles<nothing>(0, few, 0, sms));
    around("turning; a fence", cycles<Around::fence>(0, few, 0, sms));
    around("turning; a fence and a barrier of the warpgroup", cycles<Around::named_barrier>(0, few, 0, sms));
    around("turning; a fence and to and fro to a reader", cycles<Around::handshake>(1, few, 0, sms));
}
