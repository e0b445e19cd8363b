// What runs microbenchmarks: a stream, spans of thread blocks, and repetitions.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "core/machine/mode.hpp"
#include "device/cuda_objects.cuh"
#include "device/device.hpp"
#include "device/microbenchmark.cuh"
#include "device/reading.hpp"

namespace tilescope::device {

using Seconds = std::chrono::duration<double>;

constexpr Seconds warm_up(0.1);  // caches fill
constexpr int repetitions = 11;
constexpr int most_threads = 1024;
constexpr Bytes MiB = 1 << 20;

/// How many thread blocks of a kernel, and how large.
struct Grid {
    int blocks, threads;
    int shared = 0;         ///< bytes of dynamic shared memory
    int timed_threads = 0;  ///< whose warps store spans; 0: all
};

/// What all microbenchmarks need: a stream, and memory for spans and for results that nobody reads.
class Bench {
  public:
    Bench(const Device& device, Control* control)
        : sms(static_cast<int>(device.sms)),
          control_(control),
          spans_(2 * device.sms * most_threads / 32 * static_cast<Bytes>(sizeof(Span))),
          sink_(2 * device.sms * most_threads * 4) {}

    const int sms;
    Stream stream;
    Span* spans() const { return spans_.as<Span>(); }
    template <class T>
    T* sink() const {
        return sink_.as<T>();
    }

    /// Enqueues a kernel.
    template <class... Parameters, class... Arguments>
    void start(void (*kernel)(Parameters...), const Grid& grid, Arguments... arguments) {
        if (grid.shared > 0)
            check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, grid.shared),
                  "cudaFuncSetAttribute");
        kernel<<<static_cast<unsigned>(grid.blocks), static_cast<unsigned>(grid.threads),
                 static_cast<std::size_t>(grid.shared), stream.get()>>>(arguments...);
        require(cudaGetLastError(), "device.launches_microbenchmark");
    }

    /// Runs a kernel. Returns a span per thread block, from the start of its first warp to the end of its last warp.
    template <class... Parameters, class... Arguments>
    std::vector<Span> run(void (*kernel)(Parameters...), const Grid& grid, Arguments... arguments) {
        start(kernel, grid, arguments...);
        const int warps = ((grid.timed_threads > 0 ? grid.timed_threads : grid.threads) + 31) / 32;
        std::vector<Span> all(static_cast<std::size_t>(grid.blocks * warps));
        require(cudaMemcpyAsync(all.data(), spans(), all.size() * sizeof(Span), cudaMemcpyDeviceToHost, stream.get()),
                "device.reads_cycles");
        stream.wait();
        std::vector<Span> whole;
        for (std::size_t k = 0; k < all.size(); ++k) {
            if (k % static_cast<std::size_t>(warps) == 0) whole.push_back(all[k]);
            Span& s = whole.back();
            s.first_cycle = std::min(s.first_cycle, all[k].first_cycle);
            s.last_cycle = std::max(s.last_cycle, all[k].last_cycle);
            s.first_ns = std::min(s.first_ns, all[k].first_ns);
            s.last_ns = std::max(s.last_ns, all[k].last_ns);
        }
        return whole;
    }

    /// Runs `once` until the GPU is warm, and then takes `repetitions` readings of it.
    template <class F>
    Reading repeat(F&& once, Seconds warm = warm_up) const {
        const auto began = std::chrono::steady_clock::now();
        do {
            check_stop(control_);
            once();
        } while (std::chrono::steady_clock::now() - began < warm);
        std::vector<double> values;
        for (int k = 0; k < repetitions; ++k) {
            check_stop(control_);
            values.push_back(once());
        }
        return reading_of(std::move(values));
    }

  private:
    Control* control_;
    Buffer spans_, sink_;
};

inline double cycles(const Span& s) { return static_cast<double>(s.last_cycle - s.first_cycle); }

inline double mean_cycles(const std::vector<Span>& blocks) {
    double sum = 0;
    for (const Span& s : blocks) sum += cycles(s);
    return sum / static_cast<double>(blocks.size());
}

inline double most_cycles(const std::vector<Span>& blocks) {
    double most = 0;
    for (const Span& s : blocks) most = std::max(most, cycles(s));
    return most;
}

/// The clock at which thread blocks ran: cycles over time, the median over thread blocks.
inline double mhz(const std::vector<Span>& blocks) {
    std::vector<double> all;
    for (const Span& s : blocks) all.push_back(1e3 * cycles(s) / static_cast<double>(s.last_ns - s.first_ns));
    return reading_of(std::move(all)).median;
}

}  // namespace tilescope::device
