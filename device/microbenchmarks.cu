// Launches the microbenchmarks and reads cycles and times.
#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "device/cuda_objects.cuh"
#include "device/microbenchmark_kernels.cuh"
#include "device/microbenchmarks.hpp"

namespace tilescope::device {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr Seconds warm_up(0.1), clock_warm_up(0.5);  // clocks rise, then settle; caches fill
constexpr int repetitions = 11;
constexpr int warps_of_rates = 16, warps_of_products = 8, most_threads = 1024;
constexpr Bytes MiB = 1 << 20, most_copied = 1024 * MiB, cached_ring = MiB, large_ring = 512 * MiB;

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
    void start(void (*kernel)(Parameters...), int blocks, int threads, Arguments... arguments) {
        kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), 0, stream.get()>>>(arguments...);
        require(cudaGetLastError(), "device.launches_microbenchmark");
    }

    /// Runs a kernel. Returns a span per thread block, from the start of its first warp to the end of its last warp.
    template <class... Parameters, class... Arguments>
    std::vector<Span> run(void (*kernel)(Parameters...), int blocks, int threads, Arguments... arguments) {
        start(kernel, blocks, threads, arguments...);
        const int warps = (threads + 31) / 32;
        std::vector<Span> all(static_cast<std::size_t>(blocks * warps));
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

double cycles(const Span& s) { return static_cast<double>(s.last_cycle - s.first_cycle); }

double mean_cycles(const std::vector<Span>& blocks) {
    double sum = 0;
    for (const Span& s : blocks) sum += cycles(s);
    return sum / static_cast<double>(blocks.size());
}

double most_cycles(const std::vector<Span>& blocks) {
    double most = 0;
    for (const Span& s : blocks) most = std::max(most, cycles(s));
    return most;
}

/// The clock at which thread blocks ran: cycles over time, the median over thread blocks.
double mhz(const std::vector<Span>& blocks) {
    std::vector<double> all;
    for (const Span& s : blocks) all.push_back(1e3 * cycles(s) / static_cast<double>(s.last_ns - s.first_ns));
    return reading_of(std::move(all)).median;
}

// ---- what an SM does in a cycle ----

template <class Operation>
Reading operations(Bench& bench) {
    constexpr int turns = 4000, threads = 32 * warps_of_rates;
    return bench.repeat([&] {
        const auto blocks =
            bench.run(operate<Operation>, bench.sms, threads, turns, 0.5F, bench.spans(), bench.sink<float>());
        return double{turns} * per_turn * threads / mean_cycles(blocks);
    });
}

Reading products(Bench& bench) {
    constexpr int turns = 2000;
    return bench.repeat([&] {
        const auto blocks = bench.run(multiply_matrices<0>, bench.sms, 32 * warps_of_products, turns, bench.spans(),
                                      bench.sink<float>());
        return double{turns} * mma_per_turn * mma_flops * warps_of_products / mean_cycles(blocks);
    });
}

Reading shared_memory(Bench& bench) {
    constexpr int turns = 8000, threads = 32 * warps_of_rates;
    return bench.repeat([&] {
        const auto blocks =
            bench.run(read_shared, bench.sms, threads, turns, bench.spans(), bench.sink<std::uint32_t>());
        return double{turns} * shared_reads * threads * sizeof(uint4) / mean_cycles(blocks);
    });
}

// ---- memory ----

/// Bytes that `sms` SMs together read from L2 per cycle. Each reads `part` bytes of its own, `passes` times.
template <int under_way>
Reading read_by(Bench& bench, int sms, int threads, Bytes part, int passes) {
    constexpr auto word = static_cast<Bytes>(sizeof(uint4));
    const Bytes at_once = under_way * threads * word, size = std::max(part / at_once, Bytes{1}) * at_once;
    const Buffer data(size * sms);
    check(cudaMemset(data.data(), 1, static_cast<std::size_t>(size * sms)), "cudaMemset");
    return bench.repeat([&] {
        const auto blocks =
            bench.run(read_parts<under_way>, sms, threads, data.as<const uint4>(), static_cast<int>(size / word),
                      passes, bench.spans(), bench.sink<std::uint32_t>());
        return static_cast<double>(size) * sms * passes / most_cycles(blocks);
    });
}

Reading copy(Bench& bench) {
    const Bytes size = std::min(most_copied, free_memory() / 4) / 4096 * 4096;
    const Buffer from(size), to(size);
    check(cudaMemset(from.data(), 1, static_cast<std::size_t>(size)), "cudaMemset");
    return bench.repeat([&] {
        Moment began, ended;
        began.record(bench.stream);
        bench.start(copy_words, 16 * bench.sms, 512, from.as<const uint4>(), to.as<uint4>(),
                    static_cast<std::size_t>(size) / sizeof(uint4));
        ended.record(bench.stream);
        return 2 * static_cast<double>(size) / ended.since(began) / 1e6;
    });
}

/// Cycles of a load that has to wait for the one before it, in a ring of `size` bytes. Writing `l2` bytes of other data
/// drives the ring out of L2.
Reading latency(Bench& bench, Bytes size, Bytes l2, int turns) {
    const auto lines = static_cast<std::uint32_t>(size / static_cast<Bytes>(line));
    const Buffer ring_of_lines(size), at(sizeof(char*));
    bench.start(link_lines, static_cast<int>((lines + 255) / 256), 256, ring_of_lines.as<char>(), lines);
    const void* first = ring_of_lines.data();
    check(cudaMemcpyAsync(at.data(), &first, sizeof first, cudaMemcpyHostToDevice, bench.stream.get()), "cudaMemcpy");
    if (l2 > 0) {
        const Buffer other(l2);
        check(cudaMemsetAsync(other.data(), 0, static_cast<std::size_t>(l2), bench.stream.get()), "cudaMemset");
        bench.stream.wait();
    }
    return bench.repeat([&] {
        const auto blocks = bench.run(chase, 1, 1, at.as<const char*>(), turns, bench.spans());
        return mean_cycles(blocks) / (double{steps_per_turn} * turns);
    });
}

// ---- launches and clocks ----

Reading launches(Bench& bench) {
    constexpr int launches = 1000;
    return bench.repeat([&] {
        Moment began, ended;
        began.record(bench.stream);
        for (int k = 0; k < launches; ++k) bench.start(nothing, 1, 32);
        ended.record(bench.stream);
        return 1e3 * ended.since(began) / launches;
    });
}

/// The clock that the GPU settles at while a kernel of some 20 ms runs again and again.
template <class... Parameters, class... Arguments>
Reading clock_under(Bench& bench, void (*kernel)(Parameters...), int blocks, int warps, int turns,
                    Arguments... arguments) {
    const auto once = [&] {
        return mhz(bench.run(kernel, blocks, 32 * warps, turns, arguments..., bench.spans(), bench.sink<float>()));
    };
    return bench.repeat(once, clock_warm_up);
}

}  // namespace

Reading measure(Benchmark what, const Device& device, Control* control) {
    Bench bench(device, control);
    switch (what) {
        case Benchmark::mma:
            return products(bench);
        case Benchmark::fma:
            return operations<Fma>(bench);
        case Benchmark::maximum:
            return operations<Maximum>(bench);
        case Benchmark::conversion:
            return operations<Conversion>(bench);
        case Benchmark::exponential:
            return operations<Exponential>(bench);
        case Benchmark::shared_memory:
            return shared_memory(bench);
        case Benchmark::l2:
            return read_by<4>(bench, bench.sms, 512, device.l2 / 3 / device.sms, 100);
        case Benchmark::one_sm:  // 16 KiB in flight: a tile of 64 x 64 f32
            return read_by<1>(bench, 1, 1024, MiB / 4, 200);
        case Benchmark::copy:
            return copy(bench);
        case Benchmark::l2_latency:
            return latency(bench, cached_ring, 0, 1024);
        case Benchmark::dram_latency:
            return latency(bench, large_ring, 2 * device.l2, 2048);
        case Benchmark::launch:
            return launches(bench);
        case Benchmark::cuda_clock:
            return clock_under(bench, operate<Fma>, bench.sms, warps_of_rates, 150'000, 0.5F);
        case Benchmark::mma_light_clock:
            return clock_under(bench, multiply_matrices<128>, bench.sms, 4, 30'000);
        case Benchmark::mma_clock:
            return clock_under(bench, multiply_matrices<0>, 2 * bench.sms, 4, 90'000);
    }
    throw std::logic_error("no such microbenchmark");
}

}  // namespace tilescope::device
