// The backward passes: gradients against plain loops and central differences, and properties that hold for any
// gradient.
#include <cmath>
#include <set>

#include "lab/model/mapping.hpp"
#include "lab/run/experiment.hpp"
#include "tests/algorithms/backward_cases.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/gradients.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using tilescope::testing::Doubles;
using tilescope::testing::doubles_of;
using tilescope::testing::PlainAttention;

namespace {

std::vector<const Algorithm*> backwards() {
    std::vector<const Algorithm*> all;
    for (const Algorithm& a : algorithms())
        if (a.computes == &computation::attention_backward) all.push_back(&a);
    return all;
}

/// An algorithm in name only, with all features of the computation.
Algorithm of_all_features() {
    Algorithm a = *find_algorithm("flash_v2_backward");
    a.supports = a.computes->features;
    a.tensors = [](const Problem& p, const Tiling&) { return computation::attention_backward.tensors(p); };
    return a;
}

/// All corner cases, random masks and windows; and cases with biases, ALiBi, soft-cap and dropout.
std::vector<Case> cases_with_scores(std::uint64_t random) {
    std::vector<Case> all = varied_cases(random);
    for (std::uint64_t seed = 1; seed <= seeds(random); ++seed) all.push_back(score_case(seed));
    return all;
}

/// All rows of an output, from the reference in double precision.
Doubles reference_of(const Problem& p, const Inputs& in, const std::string& name) {
    const Computation& c = computation::attention_backward;
    for (std::size_t n = 0; n < p.bias.terms.size(); ++n)
        if (name == bias_gradients[n]) {
            const Storage& bias = *in.at(bias_tensors[n]);
            Doubles all;
            for (Index slice = 0; slice < bias.slices(); ++slice) {
                const auto rows = c.reference_of_bias(p, in, n, slice, {0, bias.rows()});
                const Doubles& some = rows.find(name)->second;
                all.insert(all.end(), some.begin(), some.end());
            }
            return all;
        }
    const bool of_keys = name != "dQ";
    Doubles all;
    for (Index slice = 0; slice < (of_keys ? p.kv_slices() : p.batch_heads()); ++slice) {
        const auto rows =
            of_keys ? c.reference_of_keys(p, in, slice, {0, p.seq_k}) : c.reference(p, in, slice, {0, p.seq_q});
        const Doubles& some = rows.find(name)->second;
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

double furthest(const Doubles& a, const Doubles& b) {
    REQUIRE(a.size() == b.size());
    double most = 0;
    for (std::size_t k = 0; k < a.size(); ++k) most = std::max(most, std::abs(a[k] - b[k]));
    return most;
}

double product(const Doubles& a, const Doubles& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

/// The sum over the rows of each slice, column by column.
Doubles sums_over_rows(const Doubles& x, Index rows, Index cols) {
    Doubles sums(x.size() / static_cast<std::size_t>(rows));
    for (std::size_t k = 0; k < x.size(); ++k) {
        const auto at = static_cast<Index>(k), slice = at / (rows * cols);
        sums[static_cast<std::size_t>(slice * cols + at % cols)] += x[k];
    }
    return sums;
}

double greatest(const Doubles& x) {
    double most = 0;
    for (const double v : x) most = std::max(most, std::abs(v));
    return most;
}

}  // namespace

TEST_CASE("backward: gradients of plain loops are central differences", "[backward]") {
    const std::vector<Case> all = cases_with_scores(20);
    const Algorithm a = of_all_features();
    for (std::size_t n = 0; n < all.size(); n += all[n].problem.bias || all[n].problem.dropout ? 1 : 2) {
        Case c = in_f32(a, all[n]);
        c.problem.seq_q = std::min<Index>(c.problem.seq_q, 9), c.problem.seq_k = std::min<Index>(c.problem.seq_k, 9);
        if (c.problem.mask.patterned()) continue;  // a pattern has a fixed size
        INFO(to_string(a, c));
        PlainAttention plain(c.problem, inputs_for(a, c));
        const PlainAttention::Gradients g = plain.gradients();
        const auto check = [&](Doubles& x, const Doubles& gradient) {
            constexpr double h = 1e-5;
            for (std::size_t k = 0; k < x.size(); k += 1 + x.size() / 5) {
                const double before = x[k];
                x[k] = before + h;
                const double above = plain.loss();
                x[k] = before - h;
                const double below = plain.loss();
                x[k] = before;
                CHECK(std::abs((above - below) / (2 * h) - gradient[k]) < 1e-7 * (1 + std::abs(gradient[k])));
            }
        };
        check(plain.Q, g.dQ), check(plain.K, g.dK), check(plain.V, g.dV);
        for (std::size_t k = 0; k < g.dbiases.size(); ++k) check(plain.biases[k], g.dbiases[k]);
    }
}

TEST_CASE("backward: the reference is what plain loops compute", "[backward][reference]") {
    const Algorithm a = of_all_features();
    for (const Case& each : cases_with_scores(100)) {
        const Case c = in_f32(a, each);
        INFO(to_string(a, c) << ", mask " << c.problem.mask.name());
        const Inputs in = inputs_for(a, c);
        const PlainAttention::Gradients g = PlainAttention(c.problem, in).gradients();
        // The reference starts from O and LSE in f32.
        CHECK(furthest(reference_of(c.problem, in, "dQ"), g.dQ) <= 2e-6 * g.sizes.at("dQ"));
        CHECK(furthest(reference_of(c.problem, in, "dK"), g.dK) <= 2e-6 * g.sizes.at("dK"));
        CHECK(furthest(reference_of(c.problem, in, "dV"), g.dV) <= 2e-6 * g.sizes.at("dV"));
        for (std::size_t n = 0; n < g.dbiases.size(); ++n)
            CHECK(furthest(reference_of(c.problem, in, bias_gradients[n]), g.dbiases[n]) <=
                  2e-6 * g.sizes.at(bias_gradients[n]));
    }
}

TEST_CASE("backward: what holds of the gradients of any attention", "[backward]") {
    for (const Case& each : varied_cases(60))
        for (const Algorithm* a : backwards()) {
            const Case c = in_f32(*a, each);
            const Problem& p = c.problem;
            INFO(to_string(*a, c) << ", mask " << p.mask.name());
            const Inputs in = inputs_for(*a, c);
            const Outcome o = run(*a, c, roomy(), numeric_mode, in);
            const Doubles dQ = doubles_of(*o.tensor("dQ").data), dK = doubles_of(*o.tensor("dK").data),
                          dV = doubles_of(*o.tensor("dV").data);
            const PlainAttention plain(p, in);
            const auto sizes = plain.gradients().sizes;
            const double rows = static_cast<double>(p.seq_q + p.seq_k) * static_cast<double>(p.heads / p.kv_heads);
            // Adding a constant to all logits of a row does not change the softmax.
            CHECK(greatest(sums_over_rows(dK, p.seq_k, p.dim)) <= 1e-5 * rows * sizes.at("dK") + 1e-12);
            const double q = product(plain.Q, dQ), k = product(plain.K, dK), v = product(plain.V, dV);
            const double all = static_cast<double>(dQ.size() + dK.size() + dV.size());
            CHECK(std::abs(q - k) <= 1e-5 * all * (sizes.at("dQ") + sizes.at("dK")) + 1e-12);
            CHECK(std::abs(v - plain.loss()) <= 1e-5 * all * sizes.at("dV") + 1e-12);
            // Weights add up to 1 in rows that see a key.
            Doubles seeing(static_cast<std::size_t>(p.kv_slices() * p.dim_v));
            for (Index head = 0; head < p.batch_heads(); ++head)
                for (Index r = 0; r < p.seq_q; ++r) {
                    bool sees = false;
                    for (Index key = 0; key < p.seq_k; ++key) sees |= p.sees(r, key);
                    for (Index x = 0; sees && x < p.dim_v; ++x)
                        seeing[static_cast<std::size_t>(p.kv_slice({head, 1}) * p.dim_v + x)] +=
                            plain.dO[static_cast<std::size_t>((head * p.seq_q + r) * p.dim_v + x)];
                    for (Index x = 0; !sees && x < p.dim; ++x)
                        if (dQ[static_cast<std::size_t>((head * p.seq_q + r) * p.dim + x)] != 0) FAIL("dQ, row " << r);
                }
            CHECK(furthest(sums_over_rows(dV, p.seq_k, p.dim_v), seeing) <= 1e-5 * rows * sizes.at("dV") + 1e-12);
        }
}

TEST_CASE("backward: equal values have no gradient of scores, and a shift of keys changes nothing",
          "[backward][numbers]") {
    for (const Case& each : varied_cases(20))
        for (const Algorithm* a : backwards()) {
            const Case c = in_f32(*a, each);
            const Problem& p = c.problem;
            INFO(to_string(*a, c) << ", mask " << p.mask.name());
            // Saved tensors are computed again after an input is changed.
            Inputs drawn = random_inputs(a->tensors(p, c.tiling), c.seed, Distribution::normal);
            const auto change = [&](const char* name, float factor, float added) {
                std::vector<float> x = contents(*drawn.at(name));
                const auto cols = static_cast<std::size_t>(drawn.at(name)->cols());
                for (std::size_t n = 0; n < x.size(); ++n)
                    x[n] = factor * x[n] + added * static_cast<float>(n % cols + 1);
                drawn.at(name)->write(0, x);
            };
            const auto gradients = [&] { return run(*a, c, roomy(), numeric_mode, with_saved(*a, p, drawn)); };
            const Outcome before = gradients();
            const auto sizes = PlainAttention(p, drawn).gradients().sizes;
            change("K", 1, 0.5);
            const Outcome shifted = gradients();
            for (const char* name : {"dQ", "dK"})
                CHECK(furthest(doubles_of(*shifted.tensor(name).data), doubles_of(*before.tensor(name).data)) <=
                      1e-4 * (1 + sizes.at(name)));
            change("V", 0, 1);
            const Outcome equal = gradients();
            for (const char* name : {"dQ", "dK"})
                CHECK(greatest(doubles_of(*equal.tensor(name).data)) <=
                      1e-4 * (1 + sizes.at(name)) * static_cast<double>(p.dim_v));
        }
}

TEST_CASE("backward: with biases, ALiBi, soft-cap and dropout gradients are those of plain loops",
          "[backward][scores]") {
    std::map<std::string, Count> compared;
    for (std::uint64_t seed = 1; seed <= seeds(120); ++seed)
        for (const Algorithm* a : backwards()) {
            Case c = as_supported(*a, score_case(seed));
            const Problem& p = c.problem;
            if (!p.bias && p.alibi == 0 && !p.soft_cap && !p.dropout) continue;
            INFO(to_string(*a, c) << ", mask " << p.mask.name());
            const Inputs in = inputs_for(*a, c);
            const Outcome folded = run(*a, c, roomy(), count_mode), o = run(*a, c, roomy(), numeric_mode, in);
            CHECK(difference(folded, o) == "");
            const Prediction predicted = a->predict(p, c.tiling, roomy());
            CHECK(numbers_of(predicted) == counted_numbers(folded));
            // In the narrow types: a rounding for each of P, P after dropout, dP, dS, O and, every time that it is
            // written, the gradient; and the error that an LSE in f32 causes in P.
            const double u = p.dtype == Dtype::f32 ? 1e-5 : p.dtype == Dtype::f16 ? 0x1p-11 : 0x1p-8;
            const PlainAttention::Gradients g = PlainAttention(p, in).gradients();
            std::map<std::string, const Doubles*> expected = {{"dQ", &g.dQ}, {"dK", &g.dK}, {"dV", &g.dV}};
            for (std::size_t n = 0; n < g.dbiases.size(); ++n) expected[bias_gradients[n]] = &g.dbiases[n];
            for (const auto& [name, gradient] : expected) {
                INFO(name);
                const auto trips = static_cast<double>(o.moved(name).write / o.tensor(name).bytes());
                CHECK(furthest(doubles_of(*o.tensor(name).data), *gradient) <=
                      g.sizes.at(name) * 1.1 * u * (6 + trips) + (p.dtype == Dtype::f16 ? 1e-3 : 1e-6));
                ++compared[std::string(a->name) + ' ' + name];
            }
        }
    CHECK(compared.contains("flash_v1_backward dQ"));
    CHECK(compared.contains("flash_v2_backward dV"));
    CHECK(compared.contains("memory_efficient_backward dbias2"));
    CHECK_FALSE(compared.contains("standard_backward dQ"));
    CHECK_FALSE(compared.contains("two_pass_backward dQ"));
}

TEST_CASE("backward: D is the sum of P dP, with dropout, too", "[backward][scores]") {
    const Algorithm a = of_all_features();
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        const Case c = in_f32(a, score_case(seed));
        const Problem& p = c.problem;
        INFO(to_string(a, c));
        const PlainAttention plain(p, inputs_for(a, c));
        for (Index head = 0; head < p.batch_heads(); ++head)
            for (Index r = 0; r < p.seq_q; ++r) {
                const auto [P, Z, O, slope] = plain.row(head, r);
                double of_output = 0, of_weights = 0;
                for (Index x = 0; x < p.dim_v; ++x) {
                    const double dO = plain.dO[static_cast<std::size_t>((head * p.seq_q + r) * p.dim_v + x)];
                    of_output += dO * O[static_cast<std::size_t>(x)];
                    for (Index k = 0; k < p.seq_k; ++k) {
                        const auto at = static_cast<std::size_t>(k);
                        const Index row = p.kv_slice({head, 1}) * p.seq_k + k;
                        of_weights += P[at] * Z[at] * dO * plain.V[static_cast<std::size_t>(row * p.dim_v + x)];
                    }
                }
                if (!(std::abs(of_output - of_weights) <= 1e-12 * (1 + std::abs(of_output)))) FAIL("row " << r);
            }
    }
}

TEST_CASE("backward: dropout with p = 0 changes nothing, and its mask is one for all tiles", "[backward][scores]") {
    for (const Case& each : varied_cases(20))
        for (const Algorithm* a : backwards()) {
            if (!a->supports.has(Feature::dropout)) continue;
            Case c = in_f32(*a, each);
            INFO(to_string(*a, c) << ", mask " << c.problem.mask.name());
            const Inputs plain = inputs_for(*a, c);
            const Outcome without = run(*a, c, roomy(), numeric_mode, plain);
            c.problem.dropout = {0, 7, each.seed % 2 == 0};
            const Outcome nothing = run(*a, c, roomy(), numeric_mode, inputs_for(*a, c));
            CHECK(difference(without, nothing) == "");
            for (const char* name : {"dQ", "dK", "dV"})
                CHECK(same_bits(*without.tensor(name).data, *nothing.tensor(name).data));
            c.problem.dropout.p = 0.3;
            const Inputs in = inputs_for(*a, c);
            const auto sizes = PlainAttention(c.problem, in).gradients().sizes;
            const Outcome some = run(*a, c, roomy(), numeric_mode, in);
            c.tiling = {c.tiling.bc + 3, c.tiling.br + 1, 0};
            const Outcome others = run(*a, c, roomy(), numeric_mode, in);
            for (const char* name : {"dQ", "dK", "dV"})
                CHECK(distance(*some.tensor(name).data, *others.tensor(name).data) <= 2e-5 * sizes.at(name));
        }
}

TEST_CASE("backward: what the forward pass drops is what the backward pass drops", "[backward][scores]") {
    const std::pair<const char*, const char*> pairs[] = {{"flash_v1", "flash_v1_backward"},
                                                         {"flash_v2", "flash_v2_backward"},
                                                         {"memory_efficient", "memory_efficient_backward"}};
    for (std::uint64_t seed = 1; seed <= seeds(20); ++seed)
        for (const auto& [before, after] : pairs) {
            const Algorithm &forward = *find_algorithm(before), &backward = *find_algorithm(after);
            Case c = in_f32(backward, random_case(seed));
            c.problem.dropout = {0.4, seed, false};
            INFO(to_string(backward, c));
            Inputs in = inputs_for(backward, c);
            const auto sizes = PlainAttention(c.problem, in).gradients().sizes;
            const Outcome saved = run(backward, c, roomy(), numeric_mode, in);
            in["O"] = run(forward, c, roomy(), numeric_mode, in).tensor("O").data;
            const Outcome own = run(backward, c, roomy(), numeric_mode, in);
            for (const char* name : {"dQ", "dK", "dV"})
                CHECK(distance(*own.tensor(name).data, *saved.tensor(name).data) <= 1e-4 * (1e-3 + sizes.at(name)));
        }
}
