// What becomes of queries that see no key.
#include "algorithms/contract/hidden_rows.hpp"

#include "algorithms/contract/block_mask.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;

namespace {

/// 20 queries and 12 keys in the bottom right corner: the first eight queries see no key.
Case causal_case(HiddenRows rule) {
    Case c;
    Problem& p = c.problem;
    p.heads = 2, p.kv_heads = 1, p.seq_q = 20, p.seq_k = 12, p.dim = 5, p.dim_v = 6, p.dtype = Dtype::f32;
    p.mask = Mask::causal().with(rule, p.seq_q, p.seq_k, p.diagonal());
    c.tiling = {6, 5};
    return c;
}

std::vector<float> output_of(const Algorithm& a, const Case& c, const Inputs& inputs) {
    return contents(*run(a, c, roomy(), numeric_mode, inputs).output().data);
}

}  // namespace

TEST_CASE("queries that see no key get 0, the mean of V, or their row without the mask", "[mask]") {
    const Case zero = causal_case(HiddenRows::zero), mean = causal_case(HiddenRows::mean),
               unmasked = causal_case(HiddenRows::unmasked);
    constexpr Index hidden = 8;
    Case open = zero;
    open.problem.mask = {};
    for (const Algorithm& a : algorithms()) {
        if (a.computes != &computation::attention) continue;
        INFO(a.name);
        const Inputs inputs = inputs_for(a, zero);
        const std::vector<float> V = contents(*inputs.at("V"));
        const auto zeros = output_of(a, zero, inputs), means = output_of(a, mean, inputs),
                   rows = output_of(a, unmasked, inputs), all = output_of(a, open, inputs);
        const Problem& p = zero.problem;
        for (Index head = 0; head < p.heads; ++head)
            for (Index r = 0; r < p.seq_q; ++r)
                for (Index x = 0; x < p.dim_v; ++x) {
                    const auto at = static_cast<std::size_t>((head * p.seq_q + r) * p.dim_v + x);
                    if (r >= hidden) {  // others are as they were
                        CHECK(means[at] == Approx(zeros[at]).margin(1e-6));
                        CHECK(rows[at] == Approx(zeros[at]).margin(1e-6));
                        continue;
                    }
                    double sum = 0;
                    for (Index k = 0; k < p.seq_k; ++k)
                        sum += static_cast<double>(V[static_cast<std::size_t>(k * p.dim_v + x)]);
                    CHECK(zeros[at] == 0);
                    CHECK(means[at] == Approx(sum / static_cast<double>(p.seq_k)).margin(1e-6));
                    CHECK(rows[at] == Approx(all[at]).margin(1e-6));
                }
    }
}

TEST_CASE("a rule for hidden rows says which queries see no key", "[mask]") {
    const Mask causal = causal_case(HiddenRows::mean).problem.mask;
    REQUIRE(causal.blind());
    CHECK((causal.blind()->spans == std::vector<Span>{{0, 8}}));
    CHECK(causal.blind()->among({5, 6}) == 3);
    CHECK(causal.name() == "causal, hidden-rows mean");
    CHECK(causal.cover({0, 8}, {3, 4}, -8) == Cover::whole);
    CHECK(causal.cover({6, 4}, {3, 4}, -8) == Cover::partial);
    CHECK(causal.pairs({0, 20}, {0, 12}, -8) == 8 * 12 + 12 * 13 / 2);
    CHECK(!Mask::causal().with(HiddenRows::mean, 12, 12, 0).blind());  // all see a key
    CHECK(!Mask().with(HiddenRows::mean, 12, 12, 0).blind());
    CHECK((causal.with(HiddenRows::zero, 20, 12, -8) == Mask::causal()));

    BlockMask blocks{"random:0.5", 4, 4, 3, 3, {true, false, false, false, false, false, false, true, true}};
    const Mask patterned = Mask::causal().with(blocks).with(HiddenRows::unmasked, 12, 12, 0);
    REQUIRE(patterned.blind());
    CHECK((patterned.blind()->spans == std::vector<Span>{{4, 4}}));
}

TEST_CASE("tiles in which a query sees no key are visited where its row is not 0", "[mask][counts]") {
    const Algorithm& a = *find_algorithm("flash_v2");
    const auto read = [&](HiddenRows rule) { return run(a, causal_case(rule), roomy(), count_mode).moved("K").read; };
    // Row tiles of 6 see 0, 1, 2 and 3 key tiles of 5; with the rule, the first two see all three.
    const Bytes e = 4, dim = 5, heads = 2;
    CHECK(read(HiddenRows::zero) == heads * dim * e * (0 + 5 + 10 + 12));
    CHECK(read(HiddenRows::mean) == heads * dim * e * (12 + 12 + 10 + 12));
    CHECK(read(HiddenRows::unmasked) == read(HiddenRows::mean));
}
