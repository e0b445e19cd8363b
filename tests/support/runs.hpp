// Runs as the window makes them, and problems for them.
#pragma once

#include <random>

#include "lab/workload/inputs.hpp"
#include "show/run/run.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/problems.hpp"
#include "tests/support/seeds.hpp"

namespace tilescope::show {

inline InputsFor random_for(const Algorithm& a) {
    return [&a](const Problem& p) { return lab::inputs_of(a, p, 7, lab::Distribution::normal); };
}

inline lab::Experiment experiment(const Algorithm& a, const Case& c, GpuSpec gpu = machine(1 << 20, 1 << 20)) {
    return {&a, c.problem, as_supported(a, c).tiling, std::move(gpu)};
}

inline Run run_of(const lab::Experiment& e, Index heads, const RecordingLimits& limits = {}) {
    return Run(count_for_show(e), heads, random_for(*e.algorithm), limits);
}

inline Case shaped(Index seq_q, Index seq_k, Dtype dtype, bool causal, Index batch, Index heads, Index kv_heads) {
    Case c{{}, {4, 6, 3}, 1};
    c.problem.seq_q = seq_q, c.problem.seq_k = seq_k, c.problem.dim = 6, c.problem.dim_v = 5;
    c.problem.batch = batch, c.problem.heads = heads, c.problem.kv_heads = kv_heads;
    c.problem.dtype = dtype, c.problem.mask = causal ? Mask::causal() : Mask();
    return c;
}

/// Ragged, causal and grouped cases; the last ones are long enough for several keyframes.
inline std::vector<Case> cases() {
    return {shaped(12, 12, Dtype::f32, false, 1, 1, 1), shaped(13, 17, Dtype::f16, false, 2, 4, 2),
            shaped(40, 40, Dtype::bf16, true, 1, 3, 3), shaped(60, 50, Dtype::f16, false, 1, 6, 2)};
}

template <class F>
void for_all(F&& f) {
    const std::vector<Case> all = cases();
    for (std::size_t k = 0; k < all.size(); ++k)
        for (std::size_t n = 0; n < algorithms().size(); ++n) {
            if (!takes(k, n)) continue;
            INFO(to_string(algorithms()[n], all[k]));
            f(algorithms()[n], all[k]);
        }
}

/// Ticks in no order: the first, the last, and random ones.
inline std::vector<Index> some_ticks(const Run& run, int n) {
    std::mt19937 random(3);
    std::vector<Index> ticks = {run.ticks(), 0, 1, run.ticks()};
    for (int k = 0; k < n; ++k) ticks.push_back(std::uniform_int_distribution<Index>(0, run.ticks())(random));
    return ticks;
}

/// The contents of the run's output as stored so far.
inline std::vector<float> stored_output(const Run& run) {
    for (TensorId t = 0; t < run.trace().tensors().size(); ++t)
        if (run.trace().tensors()[t].name == run.algorithm().computes->output) return run.player().values(t);
    return {};
}

}  // namespace tilescope::show
