// Biases, ALiBi, soft-cap and dropout, for every algorithm that has them: values against the reference in double
// precision, counts against closed forms, and each feature against another way to ask for the same.
#include <cmath>
#include <set>

#include "algorithms/contract/feature_names.hpp"
#include "core/machine/kept.hpp"
#include "lab/run/experiment.hpp"
#include "lab/workload/packing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

constexpr Feature of_scores[] = {Feature::mask,     Feature::block_mask, Feature::documents,
                                 Feature::bias,     Feature::alibi,      Feature::naive_softmax,
                                 Feature::soft_cap, Feature::dropout,    Feature::grouped_heads};

template <class F>
void for_attention(const Case& each, F&& f) {
    for (const Algorithm& a : algorithms()) {
        if (a.computes != &computation::attention) continue;
        const Case c = as_supported(a, each);
        INFO(to_string(a, c) << ", mask " << c.problem.mask.name());
        f(a, c);
    }
}

double greatest(const Storage& x) {
    double m = 0;
    for (const float v : contents(x)) m = std::max(m, std::abs(static_cast<double>(v)));
    return m;
}

/// How far a run may be off: O is an average of rows of V, and each weight is rounded a few times. Stored logits are
/// rounded, too; those with any weight are at most 16. Dropout scales all of this up. Compare registry_test.cpp.
double allowed(const Case& c, const Inputs& in) {
    const Dtype t = c.problem.dtype;
    if (t == Dtype::f32) return 1e-4 * static_cast<double>(c.problem.dropout.factor());
    const double u = t == Dtype::f16 ? 0x1p-11 : 0x1p-8;
    const double roundings = 4 + static_cast<double>(ceil_div(c.problem.seq_k, c.tiling.bc));
    return greatest(*in.at("V")) * static_cast<double>(c.problem.dropout.factor()) *
               (roundings * u + std::expm1(16 * u)) +
           1e-4;
}

Outcome numeric(const char* algorithm, const Case& c, const Inputs& in) {
    return run(*find_algorithm(algorithm), c, roomy(), numeric_mode, in);
}

/// A problem in f32 with d = d_v = 8, no mask, and tiles of 16 x 24.
Case plain(Index batch, Index heads, Index seq_q, Index seq_k) {
    Case c;
    Problem& p = c.problem;
    p.batch = batch, p.heads = p.kv_heads = heads, p.seq_q = seq_q, p.seq_k = seq_k;
    p.dim = p.dim_v = 8, p.dtype = Dtype::f32;
    c.tiling = {16, 24};
    return c;
}

/// K of zeros; V is 1 where column and key have the same number, else 0. So O is P, times the factor of kept weights.
Inputs showing_weights(const Case& c) {
    const Problem& p = c.problem;
    Inputs in = inputs_for(*find_algorithm("flash_v2"), c);
    std::vector<float> zeros(static_cast<std::size_t>(in.at("K")->size())), unit;
    in.at("K")->write(0, zeros);
    for (Index slice = 0; slice < p.kv_slices(); ++slice)
        for (Index row = 0; row < p.seq_k; ++row)
            for (Index col = 0; col < p.dim_v; ++col) unit.push_back(row == col ? 1.0f : 0.0f);
    in.at("V")->write(0, unit);
    return in;
}

}  // namespace

TEST_CASE("Philox gives the numbers that its authors publish", "[scores][dropout]") {
    using Words = std::array<std::uint32_t, 4>;
    const Words ones{~0u, ~0u, ~0u, ~0u};
    CHECK((philox(0, {0, 0, 0, 0}, 10) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    CHECK((philox(~std::uint64_t{0}, ones, 10) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    CHECK((philox(0, {0, 0, 0, 0}, 7) == Words{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}));
}

TEST_CASE("bytes of dropout's blocks are where the layout says", "[scores][dropout]") {
    // Row 27, column 45 of matrix 5 is row 11, column 13 of block (1, 1). Its lane is 4 (11 % 8) + 13 % 8 / 2 = 14; its
    // byte 4 (13 / 8) + 2 + 1 = 7, the highest of word 1.
    for (std::uint64_t seed = 0; seed < seeds(300); ++seed) {
        const auto words = philox(seed, {32 * 5 + 14, 0, 1, 1}, 7);
        const int byte = static_cast<int>(words[1] >> 24);
        float below = 0, at = 0;
        Kept{seed, byte - 1}.of_row(5, 27, {45, 1}, &below);
        Kept{seed, byte}.of_row(5, 27, {45, 1}, &at);
        CHECK(below == 0);
        CHECK(at == 1);
    }
}

TEST_CASE("what dropout keeps depends on seed, matrix, row and column alone", "[scores][dropout]") {
    const Kept kept{7, 200};
    std::vector<float> whole(200), part(200);
    for (Index row = 0; row < 40; ++row) {
        kept.of_row(3, row, {0, 200}, whole.data());
        for (const Span s : {Span{0, 1}, Span{31, 2}, Span{17, 90}, Span{199, 1}, Span{64, 32}}) {
            kept.of_row(3, row, s, part.data());
            for (Index k = 0; k < s.size; ++k)
                CHECK(part[static_cast<std::size_t>(k)] == whole[static_cast<std::size_t>(s.begin + k)]);
        }
    }
    const auto row_of = [](std::uint64_t seed, Index matrix, Index row) {
        std::vector<float> x(256);
        Kept{seed, 127}.of_row(matrix, row, {0, 256}, x.data());
        return x;
    };
    const std::set<std::vector<float>> different = {row_of(1, 1, 1), row_of(2, 1, 1), row_of(1, 2, 1),
                                                    row_of(1, 1, 2), row_of(1, 1, 9), row_of(1, 1, 17)};
    CHECK(different.size() == 6);
}

TEST_CASE("dropout keeps a share of (floor(255 (1 - p)) + 1) / 256", "[scores][dropout]") {
    CHECK((Dropout{0.1}.threshold() == 229));
    for (const double p : {0.05, 0.1, 0.25, 0.5, 0.9}) {
        const Dropout d{p, 11};
        const Kept kept{d.seed, d.threshold()};
        constexpr Index rows = 400, cols = 1000;
        std::vector<float> keep(cols);
        double sum = 0;
        for (Index r = 0; r < rows; ++r) {
            kept.of_row(0, r, {0, cols}, keep.data());
            for (const float k : keep) sum += static_cast<double>(k);
        }
        const double share = sum / (rows * cols), expected = (d.threshold() + 1) / 256.0;
        CHECK(std::abs(share - expected) < 5 * std::sqrt(expected * (1 - expected) / (rows * cols)));
        CHECK(std::abs(share * static_cast<double>(d.factor()) - expected / (1 - p)) < 0.01 / (1 - p));
    }
}

TEST_CASE("any pair of what is done to scores gives the reference's values, and the same counts in every mode",
          "[scores]") {
    std::set<std::tuple<std::string, Feature, Feature>> pairs;
    for (std::uint64_t seed = 1; seed <= seeds(160); ++seed)
        for_attention(score_case(seed), [&](const Algorithm& a, const Case& c) {
            const Inputs in = inputs_for(a, c);
            const Outcome folded = run(a, c, roomy(), count_mode), o = run(a, c, roomy(), numeric_mode, in);
            CHECK(difference(folded, o) == "");
            CHECK(difference(folded, run(a, c, roomy(), exact_mode)) == "");
            Outputs outputs;
            for (const TensorInfo& t : o.tensors)
                if (t.role == Role::output) outputs[t.name] = t.data;
            const OutputErrors errors = compare_with_reference(*a.computes, c.problem, in, {outputs}, 1)[0];
            const bool overflows = c.problem.softmax == Softmax::naive;
            for (const auto& [name, e] : errors) {
                INFO(name << " is off by " << e.max_abs);
                if (!overflows) CHECK(e.not_finite + e.finite_instead == 0);
                CHECK(e.max_abs <= (name == "O" ? allowed(c, in) : 2e-4));
            }
            for (const Feature f : of_scores)
                for (const Feature g : of_scores)
                    if (c.problem.uses(f) && c.problem.uses(g)) pairs.insert({a.name, f, g});
        });
    if (sanitized) return;  // a few cases do not have all pairs
    for (const Algorithm& a : algorithms())
        for (const Feature f : of_scores)
            for (const Feature g : of_scores)
                if (a.computes == &computation::attention && a.supports.has(f) && a.supports.has(g)) {
                    INFO(a.name << ": " << name_of(f) << " and " << name_of(g));
                    CHECK(pairs.count({a.name, f, g}) == 1);
                }
}

TEST_CASE("counts with changed scores are what predict() says", "[scores][closed_forms]") {
    for (std::uint64_t seed = 1; seed <= seeds(3000); ++seed)
        for_attention(score_case(seed), [](const Algorithm& a, const Case& c) {
            const Counters n = run(a, c, roomy(), count_mode).counters;
            const Prediction p = a.predict(c.problem, c.tiling, roomy());
            if (n.hbm_read != p.hbm_read || n.hbm_write != p.hbm_write || n.matmul_flops != p.matmul_flops ||
                n.exps != p.exps || n.other_flops != p.other_flops)
                FAIL("predict() and the folded count differ");
        });
    SUCCEED();
}

TEST_CASE("Evoformer's biases cost e Kt and e E a head", "[scores][closed_forms]") {
    Case c = plain(6, 2, 40, 56);
    const Outcome before = run(*find_algorithm("flash_v2"), c, roomy(), count_mode);
    c.problem.bias = {*Bias::terms_from("bk+ghqk"), 3};
    const Outcome o = run(*find_algorithm("flash_v2"), c, roomy(), count_mode);
    const Index Kt = 3 * 56, E = 40 * 56;  // row blocks of 16, 16 and 8 rows
    CHECK(o.moved("bias").read == 12 * 4 * Kt);
    CHECK(o.moved("bias2").read == 12 * 4 * E);
    CHECK(o.tensor("bias").bytes() == 6 * 56 * 4);
    CHECK(o.tensor("bias2").bytes() == 2 * 2 * 40 * 56 * 4);
    CHECK(o.counters.other_flops == before.counters.other_flops + 12 * 2 * E);
    CHECK(o.counters.exps == before.counters.exps);
}

TEST_CASE("slopes of ALiBi are the published ones", "[scores][alibi]") {
    for (Index h = 0; h < 8; ++h) CHECK(alibi_slope(h, 8) == std::exp2(-static_cast<float>(h + 1)));
    CHECK(alibi_slope(0, 16) == static_cast<float>(std::exp2(-0.5)));
    // 12 heads: the slopes of 8, then the first, third, fifth and seventh of 16.
    for (Index h = 0; h < 8; ++h) CHECK(alibi_slope(h, 12) == alibi_slope(h, 8));
    for (Index h = 8; h < 12; ++h) CHECK(alibi_slope(h, 12) == alibi_slope(2 * (h - 8), 16));
    CHECK(alibi_slope(0, 1) == std::exp2(-8.0f));
}

TEST_CASE("ALiBi is the same as its bias in a tensor", "[scores][alibi]") {
    for (const bool causal : {false, true})
        for (const auto& [Nq, Nk] : {std::pair<Index, Index>{40, 56}, {56, 40}, {1, 33}}) {
            Case c = plain(2, 3, Nq, Nk);
            if (causal) c.problem.mask = Mask::causal();
            const Inputs in = inputs_for(*find_algorithm("flash_v2"), c);
            Case with_tensor = c;
            with_tensor.problem.bias = {*Bias::terms_from("hqk"), 1};
            c.problem.alibi = c.problem.heads;
            Inputs and_bias = in;
            std::vector<float> values;
            for (Index h = 0; h < 3; ++h)
                for (Index r = 0; r < Nq; ++r)
                    for (Index k = 0; k < Nk; ++k)
                        values.push_back(-alibi_slope(h, 3) * static_cast<float>(std::abs(r + Nk - Nq - k)));
            and_bias["bias"] = std::make_shared<Storage>(Dtype::f32, 3, Nq, Nk);
            and_bias["bias"]->write(0, values);
            const Outcome a = numeric("flash_v2", c, in), b = numeric("flash_v2", with_tensor, and_bias);
            CHECK(distance(*a.tensor("O").data, *b.tensor("O").data) < 1e-5);
            CHECK(distance(*a.tensor("LSE").data, *b.tensor("LSE").data) < 1e-4);
        }
}

TEST_CASE("a huge soft-cap changes nothing, a bias per key is one per pair with equal rows", "[scores]") {
    Case c = plain(2, 2, 30, 44);
    const Inputs in = inputs_for(*find_algorithm("flash_v2"), c);
    const Outcome before = numeric("flash_v2", c, in);
    Case capped = c;
    capped.problem.soft_cap = 0x1p60;
    CHECK(distance(*before.output().data, *numeric("flash_v2", capped, in).output().data) < 1e-6);

    Case per_key = c, per_pair = c;
    per_key.problem.bias = {*Bias::terms_from("bk"), 1};
    per_pair.problem.bias = {*Bias::terms_from("bqk"), 1};
    Inputs key = inputs_for(*find_algorithm("flash_v2"), per_key), pair = key;
    pair["bias"] = std::make_shared<Storage>(Dtype::f32, 2, 30, 44);
    std::vector<float> row(44);
    for (Index slice = 0; slice < 2; ++slice)
        for (Index r = 0; r < 30; ++r) {
            key["bias"]->read(slice, {0, 1}, {0, 44}, row.data());
            pair["bias"]->write(slice, {r, 1}, {0, 44}, row.data());
        }
    for (const char* a : {"standard", "three_pass", "two_pass", "flash_v1", "flash_v2", "chunked"})
        CHECK(same_bits(*numeric(a, per_key, key).output().data, *numeric(a, per_pair, pair).output().data));
}

TEST_CASE("a dropped weight is dropped under any tiling, by any algorithm, drawn again or stored",
          "[scores][dropout]") {
    Case c = plain(2, 2, 45, 70);
    c.problem.dim_v = 70;
    c.problem.dropout = {0.3, 5, false};
    const Inputs in = showing_weights(c);
    std::set<std::vector<bool>> patterns;
    for (const Tiling& tile : {Tiling{16, 24}, Tiling{7, 70}, Tiling{45, 1}, Tiling{1, 33}})
        for (const Algorithm& a : algorithms())
            for (const bool stored : {false, true}) {
                if (a.computes != &computation::attention || !a.supports.has(Feature::dropout)) continue;
                c.tiling = tile;
                c.problem.dropout.stored = stored;
                std::vector<bool> zero;
                for (const float x : contents(*run(a, c, roomy(), numeric_mode, in).output().data)) {
                    zero.push_back(x == 0);
                    CHECK((x == 0 || std::abs(x * 70 * 0.7f - 1) < 1e-4f));
                }
                patterns.insert(zero);
            }
    CHECK(patterns.size() == 1);
}

TEST_CASE("dropout leaves the row statistics alone", "[scores][dropout]") {
    Case c = plain(1, 2, 40, 64);
    const Inputs in = inputs_for(*find_algorithm("flash_v2"), c);
    const Outcome before = numeric("flash_v2", c, in);
    c.problem.dropout = {0.5, 3, false};
    const Outcome o = numeric("flash_v2", c, in);
    CHECK(same_bits(*before.tensor("LSE").data, *o.tensor("LSE").data));
    CHECK(distance(*before.output().data, *o.output().data) > 0.1);
}

TEST_CASE("packed heads get the slopes, caps, biases and dropout of the same heads one by one", "[scores][packing]") {
    for (std::uint64_t seed = 1; seed <= seeds(120); ++seed)
        for (const char* name : {"flash_v2", "split_kv"}) {
            const Algorithm& a = *find_algorithm(name);
            Case c = as_supported(a, score_case(seed));
            c.problem.heads = c.problem.kv_heads * static_cast<Index>(2 + seed % 4);
            c.problem.dtype = Dtype::f32;
            for (BiasTerm& t : c.problem.bias.terms) t.by_head = t.by_query = false;
            INFO(to_string(a, c));
            const Inputs in = inputs_for(a, c);
            const auto o = [&](const Problem& p) { return execute({&a, p, c.tiling, roomy()}, in, 1).outputs.at("O"); };
            CHECK(distance(*o(c.problem), *o(packed(c.problem))) <= 1e-4);
            const Problem p = packed(c.problem);
            const Counters n = count({&a, p, c.tiling, roomy()}).counters;
            const Prediction said = a.predict(p, c.tiling, roomy());
            CHECK(n.hbm_read == said.hbm_read);
            CHECK(n.hbm_write == said.hbm_write);
            CHECK(n.other_flops == said.other_flops);
        }
}
