// How fast the simulator is. docs/performance.md says what the numbers should be and records what they were.
#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <chrono>

#include "core/machine/event.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/dram.hpp"
#include "lab/model/laned.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/timing.hpp"
#include "lab/study/tile_plane.hpp"

namespace tilescope {
using namespace lab;
namespace {

Experiment flash_v2(Index heads, Index seq, bool causal, const Tiling& tiling = {128, 128}, Dtype dtype = Dtype::f16) {
    Problem p;
    p.heads = p.kv_heads = heads;
    p.seq_q = p.seq_k = seq;
    p.mask = causal ? Mask::causal() : Mask();
    p.dtype = dtype;
    return {find_algorithm("flash_v2"), p, tiling, gpu_preset("A100-40GB")};
}

constexpr TimingOptions l2_apart{.l2 = false};  // it is not played

/// FlashAttention-2 or 3, by the first argument, on an H100.
Experiment flash(const benchmark::State& state, Index heads, Index seq, bool causal) {
    Experiment e = flash_v2(heads, seq, causal);
    if (state.range(0) == 3) e.algorithm = find_algorithm("flash_v3");
    e.gpu = gpu_preset("H100");
    return e;
}
Experiment flash(const benchmark::State& state) {
    return flash(state, state.range(1), state.range(2), state.range(3) != 0);
}

struct Operations : Listener {
    Count all = 0;
    void on(const Event& e, TileData) override { all += works(e.kind()); }
};

/// One folded run, report included, and how many operations it carried out. Arguments: which FlashAttention, heads,
/// sequence length, causal.
void count_run(benchmark::State& state) {
    const Experiment e = flash(state);
    for (auto _ : state) benchmark::DoNotOptimize(count(e));
    Operations operations;
    Listener* const listeners[] = {&operations};
    count(e, nullptr, listeners);
    state.counters["operations"] = static_cast<double>(operations.all);
}
BENCHMARK(count_run)
    ->ArgNames({"flash", "heads", "seq", "causal"})
    ->ArgsProduct({{2, 3}, {64}, {16384}, {0, 1}})
    ->ArgsProduct({{2, 3}, {1}, {1048576}, {1}})
    ->Unit(benchmark::kMicrosecond);

/// The same for a sliding window over a long sequence.
void count_window(benchmark::State& state) {
    Experiment e = flash_v2(1, 1048576, true);
    e.problem.mask = Mask::window(4096, 0);
    for (auto _ : state) benchmark::DoNotOptimize(count(e));
}
BENCHMARK(count_window)->Unit(benchmark::kMicrosecond);

/// Fit, SM traffic and occupancy of 32 x 32 tilings, as the window has them before anything is timed.
void count_plane(benchmark::State& state) {
    Experiment e = flash_v2(64, 16384, true);
    e.gpu = gpu_preset("H100");
    Control control;
    std::size_t cells = 0;
    for (auto _ : state) {
        TilePlane plane(e);
        plane.work(control);
        cells = plane.brs().size() * plane.bcs().size();
    }
    state.counters["cells"] = static_cast<double>(cells);
}
BENCHMARK(count_plane)->Unit(benchmark::kMillisecond);

/// Modelled time, without the L2, of a run that is counted beforehand. Arguments as for count_run.
void time_run(benchmark::State& state) {
    const Experiment e = flash(state);
    Outline outline;
    Listener* const listeners[] = {&outline};
    const Report counted = count(e, nullptr, listeners);
    for (auto _ : state) benchmark::DoNotOptimize(time_of(counted, outline, l2_apart));
}
BENCHMARK(time_run)
    ->ArgNames({"flash", "heads", "seq", "causal"})
    ->ArgsProduct({{2, 3}, {64}, {16384}, {0}})
    ->ArgsProduct({{2, 3}, {128}, {65536}, {1}})
    ->Unit(benchmark::kMicrosecond);

/// Counting and timing together: what a search over tiles does for each tiling.
void count_and_time_run(benchmark::State& state) {
    const Experiment e = flash(state);
    for (auto _ : state) benchmark::DoNotOptimize(time_of(e, l2_apart));
}
BENCHMARK(count_and_time_run)
    ->ArgNames({"flash", "heads", "seq", "causal"})
    ->ArgsProduct({{2, 3}, {64}, {16384}, {0}})
    ->ArgsProduct({{2, 3}, {128}, {65536}, {1}})
    ->Unit(benchmark::kMicrosecond);

/// Counts and times another sequence length each time, up to 16,384. The lanes of FlashAttention-3's tile were played
/// before. Arguments: which FlashAttention, causal, in the order of thread blocks of which named kernel (0: the usual
/// one).
void further_shape(benchmark::State& state) {
    Experiment e = flash(state, 64, 16384, state.range(1) != 0);
    e.tiling.like = state.range(2);
    const auto next = [&] {
        const Index seq = e.problem.seq_k % 16384 + 128;
        e.problem.seq_q = e.problem.seq_k = seq;
    };
    for (int k = 0; k < 128; ++k) next(), time_of(e, l2_apart);
    for (auto _ : state) next(), benchmark::DoNotOptimize(time_of(e, l2_apart));
}
BENCHMARK(further_shape)
    ->ArgNames({"flash", "causal", "like"})
    ->ArgsProduct({{2, 3}, {0, 1}, {0}})
    ->ArgsProduct({{3}, {1}, {3}})
    ->Unit(benchmark::kMicrosecond);

/// A tile whose lanes were not played before, because what DRAM gives an SM is always another number. Under a mask
/// that takes the tiles of few steps, too. Arguments: head dimension, the named kernel (0: the usual one), causal.
void new_tile(benchmark::State& state) {
    Experiment e = flash_v2(1, 16384, state.range(2) != 0);
    e.algorithm = find_algorithm("flash_v3"), e.gpu = gpu_preset("H100");
    e.problem.dim = e.problem.dim_v = state.range(0);
    e.tiling = {0, 0};
    e.tiling.like = state.range(1);
    e.tiling = with_roles(e);
    static double dram = 13;  // goes on over repetitions
    for (auto _ : state) {
        const LanedTimes times = laned_times(e, 1, {.missed = 0.05, .dram = dram += 1e-6});
        double cycles = times.fixed(100);
        for (int n = 1; n < 8 && state.range(2) != 0; ++n) cycles += times.fixed(n);
        benchmark::DoNotOptimize(cycles);
    }
}
BENCHMARK(new_tile)
    ->ArgNames({"dim", "like", "causal"})
    ->ArgsProduct({{64, 128, 256}, {0, 3}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

/// The same of a tile that was played.
void known_tile(benchmark::State& state) {
    Experiment e = flash_v2(1, 16384, false);
    e.algorithm = find_algorithm("flash_v3"), e.gpu = gpu_preset("H100");
    for (auto _ : state) benchmark::DoNotOptimize(laned_times(e, 1));
}
BENCHMARK(known_tile)->Unit(benchmark::kMicrosecond);

/// Plays the L2 of a launch tile by tile, in the order of the timeline. Reports visits of tiles per second.
void play_l2(benchmark::State& state) {
    Experiment e = flash_v2(64, 8192, false);
    e.gpu = gpu_preset("H100");
    Outline outline;
    Listener* const listeners[] = {&outline};
    const Report counted = count(e, nullptr, listeners);
    DramModel model(counted, outline);
    const std::vector<BlockCycles> kinds(64, {320000, 450000});
    for (auto _ : state)
        benchmark::DoNotOptimize(model.of(
            0, [&] { return kinds; }, 2, Refill::packed));
    const double visits = 64.0 * 64 * (2 * 64 + 3);  // per row block: K and V 64 times each; Q, O and the LSE once
    state.counters["visits"] =
        benchmark::Counter(visits * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(play_l2)->Unit(benchmark::kMillisecond);

/// An exact run: every tile and thread block, without data. Shows what an operation costs. Argument: sequence length.
void exact_run(benchmark::State& state) {
    const Experiment e = flash_v2(1, state.range(0), false);
    Count operations = 0;
    for (auto _ : state) {
        Gpu gpu(e.gpu, exact_mode, 1);
        run_program(gpu, *e.algorithm, e.problem, e.tiling, {});
        const Count tiles = ceil_div(e.problem.seq_q, e.tiling.br) * ceil_div(e.problem.seq_k, e.tiling.bc);
        operations += 13 * tiles;  // per loop step: loads, products, softmax operations and new tiles
    }
    state.counters["operations"] = benchmark::Counter(static_cast<double>(operations), benchmark::Counter::kIsRate);
}
BENCHMARK(exact_run)->ArgNames({"seq"})->Arg(16384)->Unit(benchmark::kMillisecond);

/// FLOP/s of Eigen's float product on one core, for the two shapes of a loop step, with operands in cache.
double eigen_rate(Index br, Index bc, Index d) {
    using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Matrix q = Matrix::Random(br, d), k = Matrix::Random(bc, d), v = Matrix::Random(bc, d);
    Matrix s = Matrix::Zero(br, bc), o = Matrix::Zero(br, d);
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    double flops = 0;
    std::chrono::duration<double> seconds{};
    for (; seconds.count() < 0.3; seconds = Clock::now() - start)
        for (int n = 0; n < 100; ++n) {
            s.noalias() += q * k.transpose();
            o.noalias() += s * v;
            s.setZero();
            benchmark::DoNotOptimize(o.data());
            flops += 4.0 * static_cast<double>(br * bc * d);
        }
    return flops / seconds.count();
}

/// A numeric run beside Eigen's own product of the same tile shapes. Arguments: threads, Br, Bc.
void numeric_run(benchmark::State& state) {
    const int threads = static_cast<int>(state.range(0));
    const Experiment e = flash_v2(8, 4096, false, {state.range(1), state.range(2)}, Dtype::f32);
    const Inputs inputs = random_inputs(e.algorithm->tensors(e.problem, e.tiling), 0, Distribution::normal);
    const double peer = eigen_rate(e.tiling.br, e.tiling.bc, e.problem.dim);
    double flops = 0;
    const auto start = std::chrono::steady_clock::now();
    for (auto _ : state) flops += static_cast<double>(execute(e, inputs, threads).counters.matmul_flops);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const double rate = flops / seconds.count();
    state.counters["GFLOP/s"] = rate / 1e9;
    state.counters["Eigen_GFLOP/s_per_core"] = peer / 1e9;
    state.counters["share_of_Eigen_per_core"] = rate / peer / threads;
}
BENCHMARK(numeric_run)
    ->ArgNames({"threads", "Br", "Bc"})
    ->Args({1, 64, 64})
    ->Args({2, 64, 64})
    ->Args({1, 64, 160})
    ->Args({2, 64, 160})
    ->Args({1, 128, 128})
    ->Args({2, 128, 128})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilescope

BENCHMARK_MAIN();
