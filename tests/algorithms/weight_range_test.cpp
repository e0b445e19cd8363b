// A scale of P, and maxima that may be stale: what they leave as it was, what they cost, and how numbers of 8 bits
// reach their end.
#include <algorithm>
#include <cmath>

#include "algorithms/contract/registry.hpp"
#include "core/machine/conversions.hpp"
#include "lab/flags/request.hpp"
#include "lab/run/experiment.hpp"
#include "lab/run/reference.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

Case case_in(Dtype dtype, Index n = 96) {
    Case c{{}, {16, 16}, 1};
    c.problem.batch = 1, c.problem.heads = c.problem.kv_heads = 2;
    c.problem.seq_q = c.problem.seq_k = n, c.problem.dim = c.problem.dim_v = 16;
    c.problem.dtype = dtype;
    return c;
}

Case with(Case c, Index p_scale, double stale_max) {
    c.problem.p_scale = p_scale, c.problem.stale_max = stale_max;
    return c;
}

double rms(const Algorithm& a, const Case& c, const Inputs& in) {
    return error_of(*a.computes, c.problem, in, run(a, c, roomy(), numeric_mode, in).output().data, 1).rms;
}

std::vector<const Algorithm*> with_ranges() { return {find_algorithm("flash_v2"), find_algorithm("flash_v3")}; }

/// One query; the first key's logit is 0, the next ones' up to the last as well, and the last one's is `grown` ln 2. V
/// is 1 for the last key alone, so that O is the last key's weight.
Inputs one_late_key(const Algorithm& a, const Case& c, double grown) {
    Inputs in;
    for (const TensorDecl& t : a.tensors(c.problem, c.tiling)) {
        if (t.role != Role::input || t.scale_of) continue;
        auto s = std::make_shared<Storage>(t.dtype, t.slices, t.rows, t.cols);
        std::vector<float> values(static_cast<std::size_t>(s->size()));
        if (t.meaning == Meaning::query) values[0] = 1;
        if (t.meaning == Meaning::key)
            values[values.size() - static_cast<std::size_t>(t.cols)] = static_cast<float>(grown * std::log(2.0));
        if (t.meaning == Meaning::value)
            std::fill(values.end() - static_cast<std::ptrdiff_t>(t.cols), values.end(), 1.0f);
        s->write(0, values);
        in.emplace(t.name, std::move(s));
    }
    return in;
}

}  // namespace

TEST_CASE("a scale of P and stale maxima leave O and the LSE", "[weight_range][numbers]") {
    for (const Algorithm* a : with_ranges()) {
        const Case c = case_in(Dtype::f32);
        const Inputs in = inputs_for(*a, c);
        const Outcome plain = run(*a, c, roomy(), numeric_mode, in);
        for (const auto& [scale, stale] : {std::pair{256, 0.0}, {1, 4.0}, {256, 4.0}, {32768, 8.0}}) {
            INFO(a->name << ", P times " << scale << ", stale by 2^" << stale);
            const Outcome o = run(*a, with(c, scale, stale), roomy(), numeric_mode, in);
            for (const char* const name : {"O", "LSE"}) {
                const std::vector<float> was = contents(*plain.tensor(name).data), is = contents(*o.tensor(name).data);
                for (std::size_t k = 0; k < was.size(); ++k)
                    if (!(std::abs(is[k] - was[k]) <= 2e-6f * (1 + std::abs(was[k]))))
                        FAIL(name << "[" << k << "] was " << was[k] << " and is " << is[k]);
            }
        }
    }
}

TEST_CASE("counts with a scale of P and stale maxima are in closed form", "[weight_range][closed_forms]") {
    for (const Algorithm* a : with_ranges())
        for (const auto& [scale, stale] : {std::pair{256, 0.0}, {1, 4.0}, {256, 4.0}}) {
            Case c = with(case_in(Dtype::f16, 90), scale, stale);
            c.problem.mask = Mask::causal();
            const Outcome o = run(*a, c, roomy(), count_mode);
            CHECK(o.counters.other_flops == a->predict(c.problem, c.tiling, roomy()).other_flops);
            const Outcome plain = run(*a, with(c, 1, 0), roomy(), count_mode);
            Count visits = 0;  // of rows by key tiles
            for (Index i = 0; i < 6; ++i) visits += std::min<Index>(16, 90 - 16 * i) * (i + 1);
            const Count more = (scale != 1 ? visits + 90 : 0) + (stale != 0 ? 2 * visits : 0);
            CHECK(o.counters.other_flops - plain.counters.other_flops == 2 * more);
        }
}

// Dao-AILab/flash-attention, pull request 2717: weights beyond 448, with their sum as it should be.
TEST_CASE("a stale maximum and a scale of P saturate e4m3, and lose up to 89% of a weight", "[weight_range]") {
    for (const Algorithm* a : with_ranges()) {
        INFO(a->name);
        Case c = case_in(Dtype::f32, 32);
        c.problem.heads = c.problem.kv_heads = 1, c.problem.seq_q = 1, c.problem.scale = 1;
        c.problem.scales = Scaling::none;
        c.problem.q_dtype = Dtype::f16, c.problem.kv_dtype = Dtype::e4m3;
        // With a Q of 16 bits P has as many: nothing is lost.
        const auto weight = [&](const Case& each, double grown) {
            const Outcome o = run(*a, each, roomy(), numeric_mode, one_late_key(*a, each, grown));
            return static_cast<double>(contents(*o.output().data)[0]);
        };
        const double grown = 3.9;  // e4m3 rounds 2.703 to 2.75, 3.967 powers of two
        const double part = std::exp2(2.75 / std::log(2.0)), right = part / (part + 31);
        CHECK(std::abs(weight(with(c, 256, 4), grown) - right) < 2e-3 * right);
        c.problem.q_dtype = Dtype::e4m3;
        const double p = 256 * part, sum = p + 31 * 256;
        CHECK(std::abs(weight(with(c, 256, 4), grown) - 448 / sum) < 3e-3);  // O is bf16
        CHECK(weight(with(c, 256, 4), grown) < 0.12 * right);
        CHECK(std::abs(weight(with(c, 16, 4), grown) - right) < 0.05 * right);      // 4 + 4 <= log2(448)
        CHECK(std::abs(weight(with(c, 256, 0.75), grown) - right) < 0.05 * right);  // 8 + 0.75, too
        CHECK(std::abs(weight(with(c, 256, 0), grown) - right) < 0.05 * right);
        c.problem.q_dtype = c.problem.kv_dtype = Dtype::e5m2;
        CHECK(std::abs(weight(with(c, 256, 4), 3.6) -
                       std::exp2(2.5 / std::log(2.0)) / (std::exp2(2.5 / std::log(2.0)) + 31)) < 0.1);
    }
}

TEST_CASE("e5m2 is better than e4m3 while P saturates, and worse once it does not", "[weight_range][numbers]") {
    for (const Algorithm* a : with_ranges()) {
        INFO(a->name);
        const auto error = [&](Dtype type, Index scale, double stale) {
            const Case c = with(case_in(type, 512), scale, stale);
            return rms(*a, c, inputs_for(*a, c));
        };
        CHECK(error(Dtype::e4m3, 256, 4) > 1.1 * error(Dtype::e5m2, 256, 4));
        for (const auto& [scale, stale] : {std::pair{256, 0.0}, {256, 0.75}, {16, 4.0}, {1, 0.0}})
            CHECK(1.5 * error(Dtype::e4m3, scale, stale) < error(Dtype::e5m2, scale, stale));
    }
}

TEST_CASE("a run says which numbers were beyond the end of their type", "[weight_range][eight_bits]") {
    const Algorithm& a = *find_algorithm("flash_v3");
    const auto notes = [&](Dtype type, Index scale, double stale, int threads) {
        Case c = with(case_in(type, 512), scale, stale);
        return run(a, c, roomy(), numeric_mode, inputs_for(a, c), threads).notes;
    };
    const std::vector<std::string> one = notes(Dtype::e4m3, 256, 4, 1), many = notes(Dtype::e4m3, 256, 4, 3);
    REQUIRE(one.size() == 1);
    CHECK(one[0].find(" of P were beyond 448, the end of e4m3") != std::string::npos);
    CHECK(one == many);
    CHECK(notes(Dtype::e4m3, 256, 0, 1).empty());
    CHECK(notes(Dtype::e5m2, 256, 4, 1).empty());
    CHECK(notes(Dtype::f16, 32768, 4, 1).empty());  // which has infinity
}

TEST_CASE("who has no scale of P says who has", "[weight_range][features]") {
    for (const Algorithm& a : algorithms()) {
        Options o;
        o.p_scale = 256;
        if (a.supports.has(Feature::weight_range)) {
            CHECK_NOTHROW(resolve(o, a));
            continue;
        }
        try {
            resolve(o, a);
            FAIL(a.name << " does not refuse");
        } catch (const UsageError& e) {
            CHECK(std::string(e.what()).find("--p-scale") != std::string::npos);
        }
    }
}
