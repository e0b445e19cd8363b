// Packed heads compared with the same heads one by one: the same values, and K and V read once for all of them.
#include "lab/workload/packing.hpp"

#include "lab/run/experiment.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

/// Heads in groups of 2 to 6; every second case has a window.
Case grouped(std::uint64_t seed) {
    Case c = seed % 2 == 0 ? random_case(seed) : window_case(seed);
    c.problem.heads = c.problem.kv_heads * static_cast<Index>(2 + seed % 5);
    c.problem.softmax = Softmax::safe;
    c.tiling.splits = static_cast<Index>(1 + seed % 7);
    return c;
}

std::vector<const Algorithm*> packing_ones() {
    std::vector<const Algorithm*> found;
    for (const Algorithm& a : algorithms())
        if (a.packs) found.push_back(&a);
    return found;
}

/// Rows of K that all row blocks read, over all heads of K and V: computed row by row from what each row sees.
Count keys_streamed(const Problem& p, const Tiling& t) {
    const Problem user = unpacked(p);
    const Index g = p.packed;
    Count keys = 0;
    for (Index i = 0; i < g * user.seq_q; i += t.br)
        for (Index j = 0; j < p.seq_k; j += t.bc) {
            const Index end = std::min(j + t.bc, p.seq_k);
            bool seen = false;
            for (Index r = i; r < std::min(i + t.br, g * user.seq_q); ++r)
                for (Index k = j; k < end; ++k) seen |= user.mask.sees(r / g, k, first_place(user));
            if (seen) keys += end - j;
        }
    return keys * p.kv_slices();
}

Experiment experiment(const Algorithm& a, const Problem& p, const Tiling& t) { return {&a, p, t, roomy()}; }

Bytes read_of(const Report& r, std::string_view name) {
    for (const TensorReport& t : r.tensors)
        if (t.name == name) return t.traffic.read;
    return -1;
}

}  // namespace

TEST_CASE("packed heads have the values of the same heads one by one, up to rounding", "[packing]") {
    REQUIRE(packing_ones().size() == 2);
    for (std::uint64_t seed = 1; seed <= seeds(200); ++seed)
        for (const Algorithm* a : packing_ones()) {
            const Case c = grouped(seed);
            INFO(to_string(*a, c));
            const Inputs inputs = random_inputs(a->tensors(c.problem, {1, 1}), seed, Distribution::normal);
            const Report alone = execute(experiment(*a, c.problem, c.tiling), inputs),
                         together = execute(experiment(*a, packed(c.problem), c.tiling), inputs);
            for (const char* name : {"O", "LSE"})
                CHECK(distance(*alone.outputs.at(name), *together.outputs.at(name)) <=
                      allowed_distance(c.problem.dtype));
            // Inputs that are packed already are taken as they are.
            const Report again =
                execute(experiment(*a, packed(c.problem), c.tiling), packed_inputs(inputs, packed(c.problem)));
            CHECK(same_bits(*together.outputs.at("O"), *again.outputs.at("O")));
        }
}

TEST_CASE("packed heads stream K and V once for all, and closed forms say how much", "[packing]") {
    for (std::uint64_t seed = 1; seed <= seeds(1500); ++seed)
        for (const Algorithm* a : packing_ones()) {
            const Case c = grouped(seed);
            const Problem p = packed(c.problem);
            INFO(to_string(*a, c));
            const Report r = count(experiment(*a, p, c.tiling));
            const Counters& n = r.counters;
            const Prediction forms = a->predict(p, c.tiling, roomy());
            CHECK(n.hbm_read == forms.hbm_read);
            CHECK(n.hbm_write == forms.hbm_write);
            CHECK(n.matmul_flops == forms.matmul_flops);
            CHECK(n.exps == forms.exps);
            CHECK(n.other_flops == forms.other_flops);
            const Mask& m = c.problem.mask;
            const bool empty = m.left() && m.right() && *m.left() + *m.right() < 0;  // no query sees a key
            if (seed > 300 || empty) continue;
            const Count keys = keys_streamed(p, c.tiling);
            CHECK(read_of(r, "K") == keys * p.dim * size_of(p.dtype));
            CHECK(read_of(r, "V") == keys * p.dim_v * size_of(p.dtype));
            Gpu exact(roomy(), exact_mode, 1);
            run_program(exact, *a, p, c.tiling, {});
            CHECK(exact.total() == n);
        }
}

TEST_CASE("decode of 32 heads over 8 reads each K and V once for each head of K and V", "[packing]") {
    Problem p;
    p.heads = 32, p.kv_heads = 8, p.seq_q = 1, p.seq_k = 8192, p.dim = p.dim_v = 128, p.mask = Mask::causal();
    const Bytes k = 8 * 8192 * 128 * 2;
    for (const Algorithm* a : packing_ones()) {
        const Problem by_rule = packed_for(*a, p, Packing::automatic);
        CHECK(by_rule == packed(p));
        const Tiling t = {64, 64, 16};
        CHECK(read_of(count(experiment(*a, by_rule, t)), "K") == k);
        CHECK(read_of(count(experiment(*a, packed_for(*a, p, Packing::off), t)), "K") == 4 * k);
    }
    CHECK(packed_for(*find_algorithm("standard"), p, Packing::automatic) == p);
    CHECK(unpacked(packed(p)) == p);
}

TEST_CASE("heads are packed by FlashAttention-2's rule: one query, in groups, no window", "[packing]") {
    Problem p;
    p.heads = 8, p.kv_heads = 2, p.seq_q = 1, p.dim = p.dim_v = 64;
    CHECK(packs_by_rule(p));
    const auto but = [&](auto&& change) {
        Problem other = p;
        change(other);
        return packs_by_rule(other);
    };
    CHECK(but([](Problem& q) { q.mask = Mask::causal(); }));
    CHECK_FALSE(but([](Problem& q) { q.mask = Mask::window(16, 0); }));
    CHECK_FALSE(but([](Problem& q) { q.seq_q = 2; }));
    CHECK_FALSE(but([](Problem& q) { q.kv_heads = 8; }));
    CHECK_FALSE(but([](Problem& q) { q.dim = 60; }));
    Problem two = p;
    two.seq_q = 2;
    const Algorithm& flash = *find_algorithm("flash_v2");
    CHECK(packed_for(flash, two, Packing::automatic) == two);
    CHECK(packed_for(flash, two, Packing::on).seq_q == 8);
}
