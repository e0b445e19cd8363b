// Launches the microbenchmarks and reads cycles and times.
#include <algorithm>
#include <stdexcept>

#include "device/bench.cuh"
#include "device/microbenchmark_kernels.cuh"
#include "device/microbenchmarks.hpp"
#include "device/microbenchmarks_sm90a.cuh"

namespace tilescope::device {
namespace {

constexpr Seconds clock_warm_up(0.5);  // clocks rise, then settle
constexpr int warps_of_rates = 16, warps_of_products = 8;
constexpr Bytes most_copied = 1024 * MiB, cached_ring = MiB, large_ring = 512 * MiB;

// ---- what an SM does in a cycle ----

template <class Operation>
Reading operations(Bench& bench) {
    constexpr int turns = 4000, threads = 32 * warps_of_rates;
    return bench.repeat([&] {
        const auto blocks =
            bench.run(operate<Operation>, {bench.sms, threads}, turns, 0.5F, bench.spans(), bench.sink<float>());
        return double{turns} * per_turn * threads / mean_cycles(blocks);
    });
}

Reading products(Bench& bench) {
    constexpr int turns = 2000;
    return bench.repeat([&] {
        const auto blocks = bench.run(multiply_matrices<0>, {bench.sms, 32 * warps_of_products}, turns, bench.spans(),
                                      bench.sink<float>());
        return double{turns} * mma_per_turn * mma_flops * warps_of_products / mean_cycles(blocks);
    });
}

Reading shared_memory(Bench& bench) {
    constexpr int turns = 8000, threads = 32 * warps_of_rates;
    return bench.repeat([&] {
        const auto blocks =
            bench.run(read_shared, {bench.sms, threads}, turns, bench.spans(), bench.sink<std::uint32_t>());
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
            bench.run(read_parts<under_way>, {sms, threads}, data.as<const uint4>(), static_cast<int>(size / word),
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
        bench.start(copy_words, {16 * bench.sms, 512}, from.as<const uint4>(), to.as<uint4>(),
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
    bench.start(link_lines, {static_cast<int>((lines + 255) / 256), 256}, ring_of_lines.as<char>(), lines);
    const void* first = ring_of_lines.data();
    check(cudaMemcpyAsync(at.data(), &first, sizeof first, cudaMemcpyHostToDevice, bench.stream.get()), "cudaMemcpy");
    if (l2 > 0) {
        const Buffer other(l2);
        check(cudaMemsetAsync(other.data(), 0, static_cast<std::size_t>(l2), bench.stream.get()), "cudaMemset");
        bench.stream.wait();
    }
    return bench.repeat([&] {
        const auto blocks = bench.run(chase, {1, 1}, at.as<const char*>(), turns, bench.spans());
        return mean_cycles(blocks) / (double{steps_per_turn} * turns);
    });
}

// ---- launches and clocks ----

Reading launches(Bench& bench) {
    constexpr int launches = 1000;
    return bench.repeat([&] {
        Moment began, ended;
        began.record(bench.stream);
        for (int k = 0; k < launches; ++k) bench.start(nothing, {1, 32});
        ended.record(bench.stream);
        return 1e3 * ended.since(began) / launches;
    });
}

/// The clock that the GPU settles at while a kernel of some 20 ms runs again and again.
template <class... Parameters, class... Arguments>
Reading clock_under(Bench& bench, void (*kernel)(Parameters...), int blocks, int warps, int turns,
                    Arguments... arguments) {
    const auto once = [&] {
        return mhz(bench.run(kernel, {blocks, 32 * warps}, turns, arguments..., bench.spans(), bench.sink<float>()));
    };
    return bench.repeat(once, clock_warm_up);
}

}  // namespace

bool built_for_hopper() { return TILESCOPE_SM90A; }

Reading measure(Benchmark what, const Device& device, Control* control) {
    Bench bench(device, control);
    if constexpr (TILESCOPE_SM90A)
        if (static_cast<std::size_t>(what) >= first_of_hopper) return measure_on_hopper(what, bench);
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
        default:
            break;
    }
    throw std::logic_error("no such microbenchmark");
}

}  // namespace tilescope::device
