// The lower bound for decoding: how long a kernel takes that does nothing but read a number of bytes once. It reads
// pieces of 16 KiB into a ring in shared memory, several under way on each SM, with other data in the L2 before: by
// bulk copies, which the unit behind TMA carries out, and by 128 threads that copy 16 bytes at a time (cp.async), as
// the kernels of split_kv do. Prints medians of 41 runs as CSV; docs/measured has them as reading.csv.
//     nvcc -std=c++20 -O3 -arch=sm_90 bench/reading.cu -o reading && ./reading
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int piece = 16 << 10, most_stages = 12;

void check(cudaError_t result) {
    if (result == cudaSuccess) return;
    std::fprintf(stderr, "reading: %s\n", cudaGetErrorString(result));
    std::exit(1);
}

__device__ std::uint32_t in_shared(const void* at) { return static_cast<std::uint32_t>(__cvta_generic_to_shared(at)); }

/// Thread blocks take pieces in turn; one thread of each keeps `stages` pieces under way.
__global__ void __launch_bounds__(32) read_once(const char* from, int pieces, int stages) {
    extern __shared__ __align__(128) char ring[];
    __shared__ std::uint64_t arrived[most_stages];
    if (threadIdx.x > 0) return;
    for (int s = 0; s < stages; ++s) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(in_shared(arrived + s)));
    asm volatile("fence.mbarrier_init.release.cluster;");
    int next = blockIdx.x;
    const auto ask = [&](int s) {
        if (next >= pieces) return;
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(in_shared(arrived + s)), "r"(piece));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         in_shared(ring + s * piece)),
                     "l"(from + std::int64_t{next} * piece), "r"(piece), "r"(in_shared(arrived + s)));
        next += gridDim.x;
    };
    for (int s = 0; s < stages; ++s) ask(s);
    for (int p = blockIdx.x, s = 0, phase = 0; p < pieces; p += gridDim.x) {
        std::uint32_t done = 0;
        while (!done)
            asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                         : "=r"(done)
                         : "r"(in_shared(arrived + s)), "r"(phase)
                         : "memory");
        ask(s);
        if (++s == stages) s = 0, phase ^= 1;
    }
}

/// The same by threads: each copies its 16 bytes of every row of a piece.
template <int stages>
__global__ void __launch_bounds__(128) read_once_by_threads(const char* from, int pieces) {
    extern __shared__ __align__(128) char ring[];
    int next = blockIdx.x;
    const auto ask = [&](int s) {
        if (next < pieces)
            for (int at = 16 * threadIdx.x; at < piece; at += 16 * blockDim.x)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(in_shared(ring + s * piece + at)),
                             "l"(from + std::int64_t{next} * piece + at));
        asm volatile("cp.async.commit_group;");
        next += gridDim.x;
    };
    for (int s = 0; s < stages; ++s) ask(s);
    for (int p = blockIdx.x, s = 0; p < pieces; p += gridDim.x) {
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 1) : "memory");
        ask(s);
        if (++s == stages) s = 0;
    }
}

/// Fills the L2 with other data, by reads: dirty data would have to be written back during the next kernel.
__global__ void read_other(const float4* from, std::int64_t n, float* sink) {
    float sum = 0;
    for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
        sum += from[k].x;
    if (sum == -1) *sink = sum;
}

}  // namespace

int main() {
    constexpr std::int64_t most = std::int64_t{2} << 30, other_bytes = std::int64_t{1} << 30;
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
    const int sms = device.multiProcessorCount;
    char *data, *other;
    float* sink;
    check(cudaMalloc(&data, most));
    check(cudaMalloc(&other, other_bytes));
    check(cudaMalloc(&sink, sizeof *sink));
    check(cudaMemset(data, 1, most));
    check(cudaMemset(other, 1, other_bytes));
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));

    const auto by_copies = [&](int pieces, int stages) {
        read_once<<<sms, 32, stages * piece>>>(data, pieces, stages);
    };
    const auto by_threads = [&](int pieces, int stages) {
        const auto kernel = stages == 4   ? read_once_by_threads<4>
                            : stages == 6 ? read_once_by_threads<6>
                                          : read_once_by_threads<most_stages>;
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, stages * piece));
        kernel<<<sms, 128, stages * piece>>>(data, pieces);
    };
    check(cudaFuncSetAttribute(read_once, cudaFuncAttributeMaxDynamicSharedMemorySize, most_stages * piece));

    const auto median_ms = [&](const auto& read, int pieces, int stages) {
        std::vector<float> times;
        for (int k = 0; k < 43; ++k) {
            read_other<<<8 * sms, 256>>>(reinterpret_cast<const float4*>(other), other_bytes / 16, sink);
            check(cudaEventRecord(begin));
            read(pieces, stages);
            check(cudaEventRecord(end));
            check(cudaEventSynchronize(end));
            float ms;
            check(cudaEventElapsedTime(&ms, begin, end));
            if (k >= 2) times.push_back(ms);
        }
        std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
        return times[times.size() / 2];
    };
    std::printf("# device: %s\nmb,pieces_under_way,us,gbs,threads_us\n", device.name);
    for (const std::int64_t bytes : {std::int64_t{32} << 20, std::int64_t{128} << 20, std::int64_t{512} << 20, most})
        for (const int stages : {4, 6, most_stages}) {
            const int pieces = static_cast<int>(bytes / piece);
            const double ms = median_ms(by_copies, pieces, stages), threads = median_ms(by_threads, pieces, stages);
            std::printf("%.1f,%d,%.1f,%.0f,%.1f\n", static_cast<double>(bytes) / 1e6, stages, ms * 1e3,
                        static_cast<double>(bytes) / ms / 1e6, threads * 1e3);
        }
}
