// How fast the simulator is. docs/performance.md says what the numbers should be and records what they were.
#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <chrono>

#include "lab/experiment.hpp"
#include "lab/gpu_presets.hpp"
#include "lab/mapping.hpp"

namespace tilescope {
using namespace lab;
namespace {

Experiment flash_v2(Index heads, Index seq, bool causal, Tiling tiling = {128, 128}, Dtype dtype = Dtype::f16) {
    Problem p;
    p.heads = p.kv_heads = heads;
    p.seq_q = p.seq_k = seq;
    p.mask = causal ? Mask::causal() : Mask();
    p.dtype = dtype;
    return {find_algorithm("flash_v2"), p, tiling, gpu_preset("A100-40GB")};
}

/// One folded run, report included. Arguments: heads, sequence length, causal.
void count_run(benchmark::State& state) {
    const Experiment e = flash_v2(state.range(0), state.range(1), state.range(2) != 0);
    for (auto _ : state) benchmark::DoNotOptimize(count(e));
}
BENCHMARK(count_run)
    ->ArgNames({"heads", "seq", "causal"})
    ->Args({64, 16384, 0})
    ->Args({64, 16384, 1})
    ->Args({1, 1048576, 1})
    ->Unit(benchmark::kMicrosecond);

/// Every tile and thread block, without data: what an operation costs. Argument: sequence length.
void exact_run(benchmark::State& state) {
    const Experiment e = flash_v2(1, state.range(0), false);
    Count operations = 0;
    for (auto _ : state) {
        Gpu gpu(e.gpu, exact_mode, 1);
        run_program(gpu, *e.algorithm, e.problem, e.tiling, {});
        const Count tiles = ceil_div(e.problem.seq_q, e.tiling.br) * ceil_div(e.problem.seq_k, e.tiling.bc);
        operations += 13 * tiles;  // loads, products, softmax steps and tiles made, per inner step
    }
    state.counters["operations"] = benchmark::Counter(static_cast<double>(operations), benchmark::Counter::kIsRate);
}
BENCHMARK(exact_run)->ArgNames({"seq"})->Arg(16384)->Unit(benchmark::kMillisecond);

/// FLOP/s of Eigen's float product on one core for the two shapes of an inner step, operands in cache.
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
