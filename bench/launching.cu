// What launching costs: how long launches that follow each other take beyond their kernel, which waits a number of
// cycles. While kernels are short, the host launches no faster; a longer one hides the host. In a stream and in a CUDA
// graph, of one thread block and of one for each SM, with the threads and shared memory of a kernel with lanes. Prints
// medians of 15 as CSV; docs/measured/h200/forward/launching.csv has them.
//     nvcc -std=c++20 -O3 -arch=sm_90 bench/launching.cu -o launching && ./launching
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int threads = 384, shared_bytes = 220 << 10, launches = 50, repetitions = 15;

void check(cudaError_t result) {
    if (result == cudaSuccess) return;
    std::fprintf(stderr, "launching: %s\n", cudaGetErrorString(result));
    std::exit(1);
}

/// Arguments as large as three tensor maps.
struct Arguments {
    char bytes[3 * 128];
};

__global__ void __launch_bounds__(threads, 1) wait(long long cycles, const __grid_constant__ Arguments arguments) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
    if (cycles < 0) std::printf("%d", arguments.bytes[threadIdx.x]);
}

}  // namespace

int main() {
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
    check(cudaFuncSetAttribute(wait, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));

    const auto enqueue = [&](int blocks, long long cycles) {
        for (int k = 0; k < launches; ++k) wait<<<blocks, threads, shared_bytes, stream>>>(cycles, {});
    };
    const auto median_us = [&](const auto& work) {
        std::array<float, repetitions> all;
        for (float& us : all) {
            check(cudaEventRecord(begin, stream));
            work();
            check(cudaEventRecord(end, stream));
            check(cudaEventSynchronize(end));
            check(cudaEventElapsedTime(&us, begin, end));
            us *= 1e3f / launches;
        }
        std::nth_element(all.begin(), all.begin() + repetitions / 2, all.end());
        return static_cast<double>(all[repetitions / 2]);
    };
    const auto in_stream = [&](int blocks, long long cycles) { return median_us([&] { enqueue(blocks, cycles); }); };
    const auto in_graph = [&](int blocks, long long cycles) {
        cudaGraph_t graph;
        cudaGraphExec_t launched;
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        enqueue(blocks, cycles);
        check(cudaStreamEndCapture(stream, &graph));
        check(cudaGraphInstantiate(&launched, graph, 0));
        const double us = median_us([&] { check(cudaGraphLaunch(launched, stream)); });
        check(cudaGraphExecDestroy(launched));
        check(cudaGraphDestroy(graph));
        return us;
    };

    constexpr long long long_wait = 2'000'000;
    in_stream(1, long_wait);  // clocks rise
    const double us_of_cycle = (in_stream(1, long_wait) - in_stream(1, long_wait / 2)) / (long_wait / 2);
    std::printf(
        "# device: %s\n# clock: %.0f MHz\nblocks,cycles,waiting_us,stream_us,graph_us,beyond_in_stream_us,"
        "beyond_in_graph_us\n",
        device.name, 1 / us_of_cycle);
    for (const int blocks : {1, device.multiProcessorCount})
        for (const long long cycles : {0, 1000, 2000, 4000, 8000, 16'000, 40'000}) {
            const double waiting = static_cast<double>(cycles) * us_of_cycle;
            const double stream_us = in_stream(blocks, cycles), graph_us = in_graph(blocks, cycles);
            std::printf("%d,%lld,%.2f,%.2f,%.2f,%.2f,%.2f\n", blocks, cycles, waiting, stream_us, graph_us,
                        stream_us - waiting, graph_us - waiting);
        }
}
