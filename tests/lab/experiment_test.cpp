#include "lab/run/experiment.hpp"

#include <cmath>
#include <set>

#include "algorithms/contract/block_mask.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/timing.hpp"
#include "lab/run/reference.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

Experiment experiment(const char* algorithm, const Case& c, const GpuSpec& gpu = roomy()) {
    return {find_algorithm(algorithm), c.problem, c.tiling, gpu};
}

Case square(Index heads, Index seq, Index dim, Tiling tiling) {
    Case c{{}, tiling, 1};
    c.problem.heads = c.problem.kv_heads = heads;
    c.problem.seq_q = c.problem.seq_k = seq;
    c.problem.dim = c.problem.dim_v = dim;
    return c;
}

bool close(double a, double b) { return std::abs(a - b) < 1e-12 * std::abs(b); }

/// What an algorithm keeps in HBM besides Q, K, V and O (or X and Y), typed from its paper where there is one.
Bytes extra(const std::string& algorithm, const Case& c) {
    const Problem& p = c.problem;
    const Bytes heads = p.batch * p.heads, e = p.dtype == Dtype::f32 ? 4 : 2;
    if (algorithm == "standard") return 2 * heads * p.seq_q * p.seq_k * e;  // S and P
    if (algorithm == "flash_v1") return heads * p.seq_q * 2 * 4;            // l and m
    if (algorithm == "flash_v2") return heads * p.seq_q * 4;                // LSE
    if (algorithm == "chunked")  // m, s and v of every key chunk, for one query chunk of each head
        return heads * ((p.seq_k + c.tiling.bc - 1) / c.tiling.bc) * std::min(c.tiling.br, p.seq_q) * (p.dim_v + 2) * 4;
    if (algorithm == "memory_efficient")  // the unfinished O in f32, which is O itself where O is f32
        return p.dim_v > 128 && e == 2 ? heads * p.seq_q * p.dim_v * 4 : 0;
    for (const char* none : {"softmax_naive", "softmax_safe", "softmax_online", "three_pass", "two_pass"})
        if (algorithm == none) return 0;
    // All others have no formula here. The tensors that an algorithm declares and its computation does not are summed,
    // and all saved ones except O.
    const Algorithm& a = *find_algorithm(algorithm);
    std::set<std::string> common;
    for (const TensorDecl& t : a.computes->tensors(p)) common.insert(t.name);
    Bytes sum = 0;
    for (const TensorDecl& t : a.tensors(p, c.tiling))
        if (!common.contains(t.name) || (t.saved && t.name != std::string("O")))
            sum += t.slices * t.rows * t.cols * size_of(t.dtype);
    return sum;
}

}  // namespace

TEST_CASE("experiment: launches have their own thread blocks and peaks", "[experiment]") {
    const Case c = square(6, 1000, 64, {128, 96});
    const GpuSpec gpu = gpu_preset("A100-40GB");
    const Report r = count(experiment("standard", c, gpu));
    REQUIRE(r.launches.size() == 3);
    CHECK(std::string(r.launches[0].kernel) == "scores");
    CHECK(std::string(r.launches[1].kernel) == "softmax");
    CHECK(std::string(r.launches[2].kernel) == "output");
    CHECK(r.launches[0].thread_blocks == 6 * 8 * 11);
    CHECK(r.launches[1].thread_blocks == 6 * 16);  // rows of 1000 + 2 f32: 65 fit in 256 KiB; evenly spread, 63 a block
    CHECK(r.launches[2].thread_blocks == 6 * 8);
    CHECK(r.launches[0].sram_peak == (128 + 96) * 64 * 2);
    CHECK(r.launches[0].register_peak == 128 * 96 * 4);
    CHECK(r.launches[1].sram_peak == 0);
    CHECK(r.launches[1].register_peak == 63 * 1002 * 4);
    CHECK(r.launches[2].sram_peak == (128 * 96 + 96 * 64) * 2);
    CHECK(r.launches[2].register_peak == 128 * 64 * 4);
    CHECK(r.sram_peak == r.launches[2].sram_peak);
    CHECK(r.register_peak == r.launches[1].register_peak);
    for (const Algorithm& a : algorithms()) {
        const Report any = count(experiment(a.name, c));
        Count blocks = 0;
        for (const LaunchInfo& l : any.launches) blocks += l.thread_blocks;
        INFO(a.name);
        CHECK(blocks == any.counters.thread_blocks);
        CHECK(static_cast<Count>(any.launches.size()) == any.counters.launches);
    }
}

TEST_CASE("experiment: FlashAttention-1 leaves SMs idle that FlashAttention-2 fills", "[experiment][numbers]") {
    // FlashAttention-2 (arXiv 2307.08691), section 3.2: batch 1 and few heads.
    const GpuSpec gpu = gpu_preset("A100-40GB");
    const Case c = square(16, 8192, 128, {64, 64});
    const auto waves = [&](const char* name) { return time_of(experiment(name, c, gpu)).launches[0].waves; };
    CHECK(waves("flash_v1") < 0.16);
    CHECK(waves("flash_v2") > 4);
}

TEST_CASE("experiment: arithmetic intensity is all FLOPs over HBM bytes", "[experiment]") {
    // One thread block, everything in one tile: Q, K and V are read, O and LSE written.
    const Report r = count(experiment("flash_v2", square(1, 64, 16, {64, 64})));
    const double flops = 2 * 64 * 64 * 32 + (64 * 64 + 64) + (3 * 64 * 64 + 64 * 18 + 64 * 18);
    CHECK(close(r.arithmetic_intensity(), flops / (4 * 64 * 16 * 2 + 64 * 4)));
    // The online softmax reads each element twice and writes it once. Per element 2 exponentials and 5 other FLOPs, per
    // row 3 FLOPs for the correction.
    const Report s = count(experiment("softmax_online", square(1, 64, 16, {64, 64})));
    CHECK(close(s.arithmetic_intensity(), (7.0 * 64 * 64 + 3 * 64) / (3 * 64 * 64 * 2)));
    // Why FlashAttention helps: the same work on far fewer bytes.
    const Case large = square(8, 4096, 64, {128, 128});
    CHECK(count(experiment("flash_v2", large)).arithmetic_intensity() >
          5 * count(experiment("standard", large)).arithmetic_intensity());
}

TEST_CASE("experiment: useful FLOPs are those of pairs that the mask leaves, and no algorithm computes fewer",
          "[experiment]") {
    Case masked = square(2, 100, 16, {32, 16});
    masked.problem.dim_v = 24;
    const Mask masks[] = {Mask(), Mask::causal(), Mask::window(20, 7), Mask::window(30, 0).with(Documents({40, 60}))};
    for (const Mask& mask : masks) {
        masked.problem.mask = mask;
        Count pairs = 0;
        for (Index q = 0; q < 100; ++q)
            for (Index k = 0; k < 100; ++k) pairs += masked.problem.sees(q, k);
        CHECK(mask.pairs({0, 100}, {0, 100}, 0) == pairs);
        for (const Algorithm& a : algorithms()) {
            if (a.computes == &computation::softmax) continue;
            INFO(a.name << ", mask " << mask.name());
            const Report r = count(experiment(a.name, masked));
            const double products = a.computes == &computation::attention ? 2 : 4;  // over d, and as many over d_v
            CHECK(r.useful_flops() == 2.0 * static_cast<double>(pairs) * products * (16 + 24));
            CHECK(r.useful_flops() <= static_cast<double>(r.counters.matmul_flops));
        }
        CHECK((count(experiment("flash_v2", masked)).useful_flops() ==
               static_cast<double>(count(experiment("flash_v2", masked)).counters.matmul_flops)) == !mask.hides());
    }
    const Report s = count(experiment("softmax_safe", square(2, 64, 16, {64, 64})));
    CHECK(s.useful_flops() == 3 * 2.0 * 64 * 64);
}

TEST_CASE("experiment: memory beyond the inputs and the output", "[experiment]") {
    std::vector<Case> cases = corner_cases();
    for (std::uint64_t seed = 1; seed <= 100; ++seed) cases.push_back(random_case(seed));
    for (const Case& each : cases)
        for (const Algorithm& a : algorithms()) {
            const Case c = as_supported(a, each);
            const Report r = count(experiment(a.name, c));
            const Problem& p = c.problem;
            const Bytes e = p.dtype == Dtype::f32 ? 4 : 2, rows = p.batch * p.heads * p.seq_q;
            const Bytes keys = p.batch * p.kv_heads * p.seq_k;
            const Bytes all = (rows * (p.dim + p.dim_v) + keys * (p.dim + p.dim_v)) * e;
            Bytes needed = a.computes == &computation::softmax     ? 2 * rows * p.seq_k * e
                           : a.computes == &computation::attention ? all
                                                                   : 2 * all;
            // Some backward passes do not need O.
            const auto has = [&](const char* name) {
                return std::any_of(r.tensors.begin(), r.tensors.end(), [&](const auto& t) { return t.name == name; });
            };
            if (a.computes == &computation::attention_backward) needed -= has("O") ? 0 : rows * p.dim_v * e;
            Bytes sum = 0;
            for (const TensorReport& t : r.tensors) sum += t.bytes;
            INFO(to_string(a, c));
            if (r.hbm_extra != extra(a.name, c)) FAIL("extra " << r.hbm_extra << ", expected " << extra(a.name, c));
            if (r.hbm_footprint != needed + r.hbm_extra) FAIL("footprint " << r.hbm_footprint);
            if (sum != r.hbm_footprint) FAIL("tensors take " << sum);
            if (memory_of(r.experiment) != sum) FAIL("memory");
        }
    // FlashAttention, theorem 1: O(N) extra memory. Standard attention: O(N^2).
    const auto growth = [](const char* name) {
        const auto bytes = [&](Index n) { return count(experiment(name, square(1, n, 64, {64, 64}))).hbm_extra; };
        return static_cast<double>(bytes(8192)) / static_cast<double>(bytes(4096));
    };
    CHECK(growth("flash_v1") == 2);
    CHECK(growth("flash_v2") == 2);
    CHECK(growth("standard") == 4);
}

TEST_CASE("experiment: a numeric run reports what a counted one does, and the output", "[experiment][threads]") {
    for (const Algorithm& a : algorithms()) {
        const Case c = corner_cases()[22];
        const Experiment e = experiment(a.name, c);
        const Inputs in = inputs_for(a, c);
        const Report counted = count(e), executed = execute(e, in, 2);
        INFO(to_string(a, c));
        CHECK(counted.counters == executed.counters);
        CHECK(counted.sram_peak == executed.sram_peak);
        CHECK(counted.register_peak == executed.register_peak);
        CHECK_FALSE(counted.numeric);
        CHECK(executed.numeric);
        CHECK(counted.output() == nullptr);
        REQUIRE(executed.output() != nullptr);
        CHECK(executed.output()->slices() == c.problem.batch_heads());
        CHECK(executed.output()->cols() == (a.computes == &computation::softmax     ? c.problem.seq_k
                                            : a.computes == &computation::attention ? c.problem.dim_v
                                                                                    : c.problem.dim));
        CHECK_FALSE(executed.error());
        CHECK(error_of(*a.computes, c.problem, in, executed.output()).not_finite == 0);
        REQUIRE(counted.tensors.size() == executed.tensors.size());
        for (std::size_t t = 0; t < counted.tensors.size(); ++t) {
            CHECK(counted.tensors[t].name == executed.tensors[t].name);
            CHECK(counted.tensors[t].traffic == executed.tensors[t].traffic);
        }
    }
}

TEST_CASE("experiment: runs can be followed and stopped", "[experiment][threads]") {
    const Case c = square(2, 64, 8, {16, 16});
    const Experiment e = experiment("flash_v2", c);
    const Inputs in = inputs_for(*e.algorithm, c);
    Control control;
    execute(e, in, 2, &control);
    CHECK(control.blocks_total.load() == 8);
    CHECK(control.blocks_done.load() == 8);
    control.stop = true;
    CHECK_THROWS_AS(execute(e, in, 1, &control), Interrupted);
    CHECK_THROWS_AS(execute(e, in, 2, &control), Interrupted);
    CHECK_THROWS_AS(count(e, &control), Interrupted);
}

TEST_CASE("experiment: the guess of the time grows with the work and shrinks with threads", "[experiment]") {
    const Report small = count(experiment("flash_v2", square(1, 1024, 64, {64, 64})));
    const Report large = count(experiment("flash_v2", square(1, 4096, 64, {64, 64})));
    CHECK(seconds_to_execute(small, 1) > 0);
    CHECK(close(seconds_to_execute(small, 1), 4 * seconds_to_execute(small, 4)));
    CHECK(seconds_to_execute(large, 1) > 12 * seconds_to_execute(small, 1));
    CHECK(seconds_to_execute(small) > 0);
}

TEST_CASE("experiment: a tensor that is not declared is a mistake of the program", "[experiment]") {
    Tensors none;
    CHECK_THROWS_AS(none["Q"], std::logic_error);
}
