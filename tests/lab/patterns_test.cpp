// What the patterns of inputs promise, checked by weights in double precision.
#include "lab/workload/patterns.hpp"

#include <cmath>

#include "core/machine/error.hpp"
#include "lab/run/reference.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

const std::vector<Distribution> patterns = {Distribution::sentence, Distribution::band, Distribution::sink,
                                            Distribution::new_maximum, Distribution::overflow};

/// The weights of a row of attention over its visible keys, computed from the stored inputs.
std::vector<double> weights_of(const Problem& p, const Inputs& in, Index head, Index row) {
    const std::vector<float> q = contents(*in.at("Q")), k = contents(*in.at("K"));
    std::vector<double> w(static_cast<std::size_t>(p.seq_k), -INFINITY);
    double most = -INFINITY, sum = 0;
    for (Index key = 0; key < p.seq_k; ++key) {
        if (p.mask.is_causal() && key > row + p.diagonal()) continue;
        double logit = 0;
        for (Index c = 0; c < p.dim; ++c)
            logit +=
                static_cast<double>(q[static_cast<std::size_t>((head * p.seq_q + row) * p.dim + c)]) *
                static_cast<double>(k[static_cast<std::size_t>((p.kv_slice({head, 1}) * p.seq_k + key) * p.dim + c)]);
        w[static_cast<std::size_t>(key)] = logit / std::sqrt(static_cast<double>(p.dim));
        most = std::max(most, w[static_cast<std::size_t>(key)]);
    }
    for (double& x : w) x = std::exp(x - most), sum += x;
    for (double& x : w) x /= sum;
    return w;
}

Problem shaped(Index queries, Index keys, Index dim, Dtype dtype, bool causal) {
    Problem p;
    p.heads = 4, p.kv_heads = 2, p.seq_q = queries, p.seq_k = keys, p.dim = dim, p.dim_v = 5, p.dtype = dtype;
    if (causal) p.mask = Mask::causal();
    return p;
}

const std::vector<Problem>& problems() {
    static const std::vector<Problem> all = {
        shaped(16, 16, 4, Dtype::f32, false),   shaped(16, 16, 4, Dtype::f32, true),
        shaped(13, 15, 5, Dtype::f16, true),    shaped(40, 24, 7, Dtype::f32, false),
        shaped(200, 300, 64, Dtype::f16, true), shaped(128, 128, 128, Dtype::bf16, false),
        shaped(1, 9, 4, Dtype::f32, true),      shaped(1024, 1024, 4, Dtype::f16, false)};
    return all;
}

/// Calls f(weights, query's position among the keys, problem) for some rows of two heads.
template <class F>
void for_rows(Distribution d, F&& f) {
    for (const Problem& p : problems()) {
        for (const std::uint64_t seed : {0u, 7u}) {
            const Inputs in = random_inputs(computation::attention.tensors(p), seed, d);
            for (const Index head : {Index{0}, p.heads - 1})
                for (Index row = 0; row < p.seq_q; row += std::max<Index>(1, p.seq_q / 17)) {
                    INFO(p.seq_q << " x " << p.seq_k << ", dim " << p.dim << ", row " << row << ", seed " << seed);
                    f(weights_of(p, in, head, row), row + p.diagonal(), p);
                }
        }
    }
}

double sum_of(const std::vector<double>& w, Index from, Index to) {
    double sum = 0;
    for (Index k = std::max<Index>(0, from); k < std::min<Index>(to, static_cast<Index>(w.size())); ++k)
        sum += w[static_cast<std::size_t>(k)];
    return sum;
}

Inputs matrix(Distribution d, Index rows, Index cols) {
    Problem p;
    p.heads = p.kv_heads = 1, p.seq_q = rows, p.seq_k = cols, p.dtype = Dtype::f32;
    return random_inputs(computation::softmax.tensors(p), 3, d);
}

std::vector<double> softmax_row(Distribution d, Index rows, Index cols, Index row) {
    Problem p;
    p.heads = p.kv_heads = 1, p.seq_q = rows, p.seq_k = cols, p.dtype = Dtype::f32;
    return reference_rows(computation::softmax, p, matrix(d, rows, cols), 0, {row, 1});
}

}  // namespace

TEST_CASE("patterns: in the sentence, a word looks at its word", "[inputs]") {
    CHECK(sentence_word(0) == "the");
    CHECK(sentence_word(sentence_length() + 1) == "cat");
    CHECK(sentence_word(word_looked_at(4)) == "cat");  // word 4 is "it"
    for_rows(Distribution::sentence, [](const std::vector<double>& w, Index at, const Problem& p) {
        const Index focus = word_looked_at(((at % 8) + 8) % 8);
        if (p.mask.is_causal() && focus > at) return;  // "the" looks at a later word
        double there = 0;
        for (Index k = focus; k < p.seq_k; k += sentence_length()) there += w[static_cast<std::size_t>(k)];
        CHECK(there > 0.66);
    });
    CHECK(softmax_row(Distribution::sentence, 8, 8, 4)[1] > 0.8);
}

TEST_CASE("patterns: O of the sentence is the weight of each word", "[inputs]") {
    Problem p = shaped(8, 8, 4, Dtype::f32, false);
    p.dim_v = 8;
    const Inputs in = random_inputs(computation::attention.tensors(p), 0, Distribution::sentence);
    const std::vector<double> o = reference_rows(computation::attention, p, in, 0, {4, 1});
    const std::vector<double> w = weights_of(p, in, 0, 4);
    for (std::size_t k = 0; k < 8; ++k) CHECK(o[k] == Approx(w[k]));
}

TEST_CASE("patterns: in a band, more than 80% of the weight is near", "[inputs]") {
    for_rows(Distribution::band, [](const std::vector<double>& w, Index at, const Problem& p) {
        const Index reach = band_reach(p.seq_k), near = std::clamp<Index>(at, 0, p.seq_k - 1);
        CHECK(sum_of(w, near - reach, near + reach + 1) > 0.8);
    });
    for (const Index n : {Index{16}, Index{100}})
        CHECK(sum_of(softmax_row(Distribution::band, n, n, 5), 5 - band_reach(n), 6 + band_reach(n)) > 0.8);
}

TEST_CASE("patterns: the sink has more than half of every row", "[inputs]") {
    for_rows(Distribution::sink, [](const std::vector<double>& w, Index, const Problem&) { CHECK(w[0] > 0.5); });
    CHECK(softmax_row(Distribution::sink, 30, 500, 7)[0] > 0.5);
}

TEST_CASE("patterns: the row maximum grows from block to block", "[inputs]") {
    constexpr Index block = 4;
    for_rows(Distribution::new_maximum, [](const std::vector<double>& w, Index at, const Problem& p) {
        const Index visible = p.mask.is_causal() ? std::min(p.seq_k, at + 1) : p.seq_k;
        if (p.seq_k > 64) return;  // with more keys, f16 and bf16 round neighbours to the same number
        double most = 0;
        for (Index from = 0; from < visible; from += block) {
            const double before = most;
            for (Index k = from; k < std::min(visible, from + block); ++k)
                most = std::max(most, w[static_cast<std::size_t>(k)]);
            CHECK(most > 1.2 * before);
        }
    });
    const std::vector<double> row = softmax_row(Distribution::new_maximum, 16, 16, 2);
    for (std::size_t k = 1; k < row.size(); ++k) CHECK(row[k] > row[k - 1]);
}

TEST_CASE("patterns: the naive softmax overflows, the safe one does not", "[inputs]") {
    const Algorithm& standard = *find_algorithm("standard");
    Case c{shaped(16, 16, 4, Dtype::f32, false), {4, 4}, 1};
    for (const bool causal : {false, true}) {
        c.problem.mask = causal ? Mask::causal() : Mask();
        const Inputs in = inputs_for(standard, c, Distribution::overflow);
        c.problem.softmax = Softmax::naive;
        for (const float o : contents(*run(standard, c, roomy(), numeric_mode, in).output().data))
            CHECK_FALSE(std::isfinite(o));
        c.problem.softmax = Softmax::safe;
        const Outcome safe = run(standard, c, roomy(), numeric_mode, in);
        const OutputError e = error_of(computation::attention, c.problem, in, safe.output().data);
        CHECK(e.not_finite == 0);
        CHECK(e.max_abs < 1e-4);
    }
    for (const float x : contents(*matrix(Distribution::overflow, 20, 30).at("X"))) CHECK(x > 89);
}

TEST_CASE("patterns: an element depends on its place, not on the number of heads", "[inputs]") {
    for (const Distribution d : patterns) {
        Problem p = shaped(20, 30, 6, Dtype::f32, false);
        const Inputs four = random_inputs(computation::attention.tensors(p), 5, d);
        p.heads = p.kv_heads = 1;
        for (const auto& [name, one] : random_inputs(computation::attention.tensors(p), 5, d)) {
            const std::vector<float> all = contents(*four.at(name)), first = contents(*one);
            CHECK(first == std::vector<float>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first.size())));
            for (const float x : all) CHECK(std::isfinite(x));
        }
    }
}

TEST_CASE("patterns: rows that are too short for one are refused", "[inputs]") {
    CHECK_THROWS_AS(check_pattern(Distribution::sentence, 3), BadValue);
    CHECK_THROWS_AS(check_pattern(Distribution::band, 1), BadValue);
    CHECK_NOTHROW(check_pattern(Distribution::sentence, 4));
    for (const Distribution d : distributions) CHECK_NOTHROW(check_pattern(d, 4));
    CHECK_NOTHROW(check_pattern(Distribution::sink, 1));
}
