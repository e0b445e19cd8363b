#include "device/validation.hpp"

#include <cmath>

#include "lab/gpu/gpu_presets.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::device;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The deviations of a kernel and a simulator that are off by these amounts, for outputs up to 2.
Deviations off_by(double kernel, double simulator) {
    Deviations d;
    d.heads_checked = 1;
    d.largest_reference = d.largest_of_all = 2;
    d.kernel.max_abs = d.kernel.rms = kernel;
    d.simulator.max_abs = d.simulator.rms = simulator;
    d.kernel.elements = d.kernel.compared = d.simulator.elements = d.simulator.compared = 9;
    return d;
}

}  // namespace

TEST_CASE("validation: fp32 may be off by 1e-5 of the largest output", "[validation]") {
    CHECK(verdict(off_by(1.9e-5, 1e-7), Dtype::f32).empty());
    CHECK_THAT(verdict(off_by(2.1e-5, 1e-7), Dtype::f32), ContainsSubstring("2e-05 is allowed"));
    // Where fp32 itself loses more: up to four times the simulator's error.
    CHECK(verdict(off_by(3.9e-4, 1e-4), Dtype::f32).empty());
    CHECK(!verdict(off_by(4.1e-4, 1e-4), Dtype::f32).empty());
}

TEST_CASE("validation: narrow types may lose a quarter more than the simulator", "[validation]") {
    for (const Dtype t : {Dtype::f16, Dtype::bf16}) {
        CHECK(verdict(off_by(1.24e-3, 1e-3), t).empty());
        CHECK_THAT(verdict(off_by(1.26e-3, 1e-3), t), ContainsSubstring("RMS"));
        CHECK(verdict(off_by(0, 0), t).empty());
    }
}

TEST_CASE("validation: 8 bits are added as the simulator adds them, and lose a hundredth more at most",
          "[validation]") {
    for (const Dtype t : {Dtype::e4m3, Dtype::e5m2}) {
        CHECK(verdict(off_by(1.009e-3, 1e-3), t).empty());
        CHECK_THAT(verdict(off_by(1.011e-3, 1e-3), t), ContainsSubstring("RMS"));
        Deviations d = off_by(0, 0);
        d.other_difference = 0.9e-4;
        CHECK(verdict(d, t).empty());
        d.other_difference = 1.1e-4;
        CHECK(!verdict(d, t).empty());
    }
}

TEST_CASE("validation: where an output cancels out, what cancels is as large as the others", "[validation]") {
    Deviations d = off_by(1.9e-5, 0);
    d.largest_reference = 0;
    CHECK(verdict(d, Dtype::f32).empty());
    d.largest_of_all = 1;
    CHECK(!verdict(d, Dtype::f32).empty());
    CHECK(verdict(off_by(1.9e-6, 0), Dtype::f16).empty());
    CHECK(!verdict(off_by(2.1e-6, 0), Dtype::f16).empty());
}

TEST_CASE("validation: NaN is wrong, unless the algorithm itself overflows", "[validation]") {
    Deviations d = off_by(0, 0);
    d.kernel.not_finite = 3;
    CHECK_THAT(verdict(d, Dtype::f32), ContainsSubstring("3 outputs"));
    d.simulator.not_finite = 3;
    CHECK(verdict(d, Dtype::f32).empty());
    d = off_by(0, 0);
    d.not_finite_unchecked = 2;
    CHECK_THAT(verdict(d, Dtype::f16), ContainsSubstring("not compared"));
}

TEST_CASE("validation: a number where there should be none is wrong, and so is nothing to compare", "[validation]") {
    Deviations d = off_by(0, 0);
    d.kernel.finite_instead = 3;
    CHECK_THAT(verdict(d, Dtype::f32), ContainsSubstring("3 outputs are finite"));
    d.simulator.finite_instead = 3;
    CHECK(verdict(d, Dtype::f32).empty());
    d.kernel.compared = 0;
    CHECK_THAT(verdict(d, Dtype::f32), ContainsSubstring("nothing to compare"));
}

TEST_CASE("validation: the LSE counts too", "[validation]") {
    Deviations d = off_by(0, 0);
    d.other_difference = 2e-4;
    CHECK_THAT(verdict(d, Dtype::f32), ContainsSubstring("LSE"));
}

TEST_CASE("validation: the heads that are checked are spread evenly", "[validation]") {
    CHECK(spread_heads(8, 1) == std::vector<Index>{0});
    CHECK(spread_heads(8, 2) == std::vector<Index>{0, 7});
    CHECK(spread_heads(64, 4) == std::vector<Index>{0, 21, 42, 63});
    CHECK(spread_heads(3, 100) == std::vector<Index>{0, 1, 2});
    CHECK(spread_heads(1, 5) == std::vector<Index>{0});
}

TEST_CASE("validation: all outputs are compared, or the last rows of one head where a head is too much",
          "[validation]") {
    Problem p;
    p.dtype = Dtype::f32;
    Part part = part_to_check(computation::attention, p);
    CHECK((static_cast<Index>(part.heads.size()) == p.batch_heads() && part.rows == p.seq_q));
    p.heads = p.kv_heads = 64;
    p.seq_q = p.seq_k = 4096;
    part = part_to_check(computation::attention, p);
    CHECK((part.heads.size() > 1 && part.heads.size() < 64 && part.heads.back() == 63 && part.rows == p.seq_q));
    p.seq_q = p.seq_k = 16384;
    part = part_to_check(computation::attention, p);
    CHECK((part.heads == std::vector<Index>{0} && part.rows >= 128 && part.rows < p.seq_q));
    CHECK(part_to_check(computation::softmax, p).rows >= 128);
}

TEST_CASE("validation: gradients of keys are compared for whole groups of heads, however long", "[validation]") {
    Problem p;
    p.batch = 2, p.heads = 16, p.kv_heads = 4, p.seq_q = p.seq_k = 4096, p.dtype = Dtype::f32;
    const Part some = part_to_check(computation::attention_backward, p);
    REQUIRE(some.heads.size() == 4);
    CHECK(some.heads == std::vector<Index>{0, 1, 2, 3});
    CHECK(some.kv_heads == std::vector<Index>{0});
    CHECK(some.rows == p.seq_q);
    p.seq_q = p.seq_k = 512;
    const Part all = part_to_check(computation::attention_backward, p);
    CHECK(all.heads.size() == 32);
    CHECK(all.kv_heads == std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7});
    const Problem own = problem_of(all, p);
    CHECK((own.heads == 32 && own.kv_heads == 8));
    p.seq_q = p.seq_k = 16384;
    CHECK(part_to_check(computation::attention_backward, p).rows == 16384);
}

TEST_CASE("validation: the last rows of a head are a problem of their own", "[validation]") {
    for (const bool causal : {false, true}) {
        Problem p;
        p.heads = 4, p.kv_heads = 2, p.seq_q = 100, p.seq_k = 130, p.dtype = Dtype::f32,
        p.mask = causal ? Mask::causal() : Mask();
        const Algorithm& a = *find_algorithm("flash_v2");
        const Part part = {{1, 3}, 40, {0, 1}};
        const Inputs all = random_inputs(a.tensors(p, {16, 16}), 1, Distribution::normal);
        const Inputs some = {{"Q", cut(*all.at("Q"), "Q", part)},
                             {"K", cut(*all.at("K"), "K", part)},
                             {"V", cut(*all.at("V"), "V", part)}};
        const GpuSpec gpu = load_gpu("H200");
        const auto whole = execute({&a, p, {16, 16}, gpu}, all).output();
        const auto own = execute({&a, problem_of(part, p), {16, 16}, gpu}, some).output();
        const auto expected = cut(*whole, "O", part);
        REQUIRE(own->size() == expected->size());
        std::vector<float> x(static_cast<std::size_t>(own->size())), y(x.size());
        own->read(0, x);
        expected->read(0, y);
        for (std::size_t k = 0; k < x.size(); ++k) REQUIRE(std::abs(x[k] - y[k]) < 1e-6f);
    }
}

TEST_CASE("validation: a kept reference compares as one that is not kept", "[validation]") {
    for (const Case& c : corner_cases())
        for (const char* name : {"flash_v2", "softmax_safe"}) {
            const Algorithm& a = *find_algorithm(name);
            INFO(to_string(a, c));
            const Inputs in = inputs_for(a, c);
            const Outcome o = run(a, c, roomy(), numeric_mode, in);
            const Reference reference(*a.computes, c.problem, in, 2);
            const OutputError kept = *reference.compare(a.computes->output, *o.output().data);
            const OutputError fresh = error_of(*a.computes, c.problem, in, o.output().data, 1);
            CHECK(kept.max_abs == fresh.max_abs);
            CHECK(std::abs(kept.rms - fresh.rms) <= 1e-12 * fresh.rms);
            CHECK(kept.elements == fresh.elements);
            CHECK(kept.not_finite == fresh.not_finite);
            CHECK(reference.largest(a.computes->output) > 0);
        }
}
