// Masks that are equal but stated in different ways, and the cover of tiles compared with their elements.
#include "algorithms/contract/mask.hpp"

#include "lab/flags/block_patterns.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/run/experiment.hpp"
#include "lab/workload/mask_json.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

/// Checks that all algorithms count and compute the same for two problems that differ only in their masks.
void check_same(Case a, const Mask& mask) {
    Case b = a;
    b.problem.mask = mask;
    for (const Algorithm& algorithm : algorithms()) {
        if (!algorithm.supports.has(Feature::mask)) continue;
        Case x = as_supported(algorithm, a), y = as_supported(algorithm, b);
        // FlashAttention-3's own kernels choose by the mask, cuDNN's does not.
        if (has_knob(algorithm.knobs, &Tiling::like)) x.tiling.like = y.tiling.like = 3;
        INFO(to_string(algorithm, x) << ", masks " << x.problem.mask.name() << " and " << y.problem.mask.name());
        const Inputs in = inputs_for(algorithm, x);
        const Outcome before = run(algorithm, x, roomy(), numeric_mode, in),
                      after = run(algorithm, y, roomy(), numeric_mode, in);
        CHECK(difference(before, after).empty());
        CHECK(same_bits(*before.output().data, *after.output().data));
    }
}

/// A block mask with blocks as large as the case's tiles: a block is seen where any row of the tile sees a key.
BlockMask tiles_as_blocks(const Case& c) {
    const Tiles rows(c.problem.seq_q, c.tiling.br), keys(c.problem.seq_k, c.tiling.bc);
    BlockMask m{"tiles", c.tiling.br, c.tiling.bc, rows.count(), keys.count(), {}};
    for (Index i = 0; i < m.rows; ++i)
        for (Index j = 0; j < m.cols; ++j) m.seen.push_back(c.problem.cover(rows[i], keys[j]) != Cover::hidden);
    return m;
}

Cover by_elements(const Problem& p, Span rows, Span keys) {
    Index seen = 0;
    for (Index r = rows.begin; r < rows.end(); ++r)
        for (Index k = keys.begin; k < keys.end(); ++k) seen += p.sees(r, k);
    return seen == 0 ? Cover::hidden : seen == rows.size * keys.size ? Cover::whole : Cover::partial;
}

}  // namespace

TEST_CASE("a window as wide as the keys is causality, and one without bounds nothing", "[mask][numbers]") {
    for (std::uint64_t seed = 1; seed <= seeds(60); ++seed) {
        Case c = random_case(seed);
        c.problem.mask = Mask::causal();
        check_same(c, Mask::window(c.problem.seq_k, 0));
        c.problem.mask = {};
        check_same(c, Mask::window(std::nullopt, std::nullopt));
        check_same(c, Mask::window(c.problem.seq_k + c.problem.seq_q, c.problem.seq_k + c.problem.seq_q));
    }
}

TEST_CASE("one document is all keys, and blocks that are all seen hide nothing", "[mask]") {
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        Case c = window_case(seed);
        // Queries before the first key are in no document.
        if (c.problem.seq_q <= c.problem.seq_k) check_same(c, c.problem.mask.with(Documents({c.problem.seq_k})));
        BlockMask all{"all", 7, 5, ceil_div(c.problem.seq_q, 7), ceil_div(c.problem.seq_k, 5), {}};
        all.seen.assign(static_cast<std::size_t>(all.rows * all.cols), true);
        check_same(c, c.problem.mask.with(all));
    }
}

TEST_CASE("what a mask leaves of tiles, said once more in blocks, changes nothing", "[mask]") {
    for (std::uint64_t seed = 1; seed <= seeds(60); ++seed) {
        const Case c = seed % 2 ? random_case(seed) : pattern_case(seed);
        if (!c.problem.mask.blocks()) check_same(c, c.problem.mask.with(tiles_as_blocks(c)));
    }
}

TEST_CASE("a block mask gives the same values whatever the tiles", "[mask][numbers]") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Case c = pattern_case(seed), d = c;
        c.problem.softmax = d.problem.softmax = Softmax::safe;
        d.tiling = {random_case(seed + 1000).tiling.br, random_case(seed + 2000).tiling.bc, c.tiling.splits};
        for (const Algorithm& a : algorithms()) {
            if (!a.supports.has(Feature::block_mask)) continue;
            const Case x = as_supported(a, c), y = as_supported(a, d);
            INFO(to_string(a, x) << " and " << to_string(a, y) << ", mask " << x.problem.mask.name());
            const Inputs in = inputs_for(a, x);
            const Outcome one = run(a, x, roomy(), numeric_mode, in), other = run(a, y, roomy(), numeric_mode, in);
            // P of `standard` is rounded to the storage type, whatever the tiles.
            CHECK(distance(*one.output().data, *other.output().data) <= 2 * allowed_distance(x.problem.dtype));
        }
    }
}

TEST_CASE("of a hundred thousand documents only the tiles within reach are looked at", "[mask]") {
    // A walk over pairs of tiles, or over the documents in each, would take hours.
    constexpr Index tiles = 1000, documents = tiles * 128;
    Problem p;
    p.heads = p.kv_heads = 1, p.seq_q = p.seq_k = documents, p.dtype = Dtype::f16;
    p.mask = Mask().with(Documents(std::vector<Index>(documents, 1)));
    CHECK(p.mask.pairs({0, documents}, {0, documents}, 0) == documents);
    CHECK(p.cover({0, documents}, {0, documents}) == Cover::partial);
    CHECK(p.cover({0, 128}, {128, documents - 128}) == Cover::hidden);
    for (const char* name : {"flash_v2", "flash_v1"}) {
        INFO(name);
        CHECK(count({find_algorithm(name), p, {128, 128}, gpu_preset("H100")}).counters.matmul_flops ==
              Count{4} * 128 * 128 * p.dim * tiles);
    }
}

TEST_CASE("a tile is hidden, partial or whole as its elements are", "[mask]") {
    Index of[3] = {};
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        const Case c = pattern_case(seed);
        // A window that ends before it begins hides everything, but tiles do not show that.
        if (c.problem.mask.left().value_or(0) + c.problem.mask.right().value_or(0) < 0) continue;
        const Tiles rows(c.problem.seq_q, c.tiling.br), keys(c.problem.seq_k, c.tiling.bc);
        INFO(c << ", mask " << c.problem.mask.name() << ", seed " << seed);
        for (Index i = 0; i < rows.count(); ++i)
            for (Index j = 0; j < keys.count(); ++j) {
                const Cover is = c.problem.cover(rows[i], keys[j]);
                ++of[static_cast<int>(is)];
                if (is != by_elements(c.problem, rows[i], keys[j])) FAIL("tile " << i << ", " << j);
            }
        // The tiles visited are those that are not hidden, in order.
        for (Index i = 0; i < rows.count(); ++i) {
            const Tiles visible = c.problem.visible_keys(keys, rows[i]);
            Index number = 0, partial = 0;
            for (Index j = 0; j < keys.count(); ++j) {
                const Cover is = c.problem.cover(rows[i], keys[j]);
                if (is == Cover::hidden) continue;
                REQUIRE((number < visible.count() && visible[number] == keys[j]));
                ++number, partial += is == Cover::partial;
            }
            CHECK(visible.count() == number);
            CHECK(c.problem.visible(keys).partial(rows[i], visible) == partial);
        }
    }
    for (const Index n : of) CHECK(n > 1000);
}

TEST_CASE("masks are written to JSON and read back", "[mask]") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const Mask m = seed % 3 ? pattern_case(seed).problem.mask : window_case(seed).problem.mask;
        const Json json = to_json(m);
        CHECK((mask_from(JsonEntry(json, "file", "mask"), "file") == m));
    }
}

TEST_CASE("named block masks have the blocks that their papers draw", "[mask]") {
    Problem p;
    p.seq_q = p.seq_k = 64;
    const auto drawn = [&](const std::string& name) {
        const BlockMask m = block_mask(name, p, 8, 8);
        std::string rows;
        for (Index i = 0; i < m.rows; ++i, rows += ' ')
            for (Index j = 0; j < m.cols; ++j) rows += m(i, j) ? '1' : '0';
        return rows;
    };
    CHECK(drawn("butterfly") == "11101000 11010100 10110010 01110001 10001110 01001101 00101011 00010111 ");
    CHECK(drawn("band:1") == "11000000 11100000 01110000 00111000 00011100 00001110 00000111 00000011 ");
    CHECK(drawn("strided:3") == "10000000 11000000 11100000 01110000 00111000 00111100 00101110 00100111 ");
    CHECK(drawn("global:1") == "11111111 11100000 11110000 10111000 10011100 10001110 10000111 10000011 ");
    CHECK(drawn("random:0") == drawn("random:0"));
    CHECK(drawn("random:1") == "11111111 11111111 11111111 11111111 11111111 11111111 11111111 11111111 ");
    // The last query stands at the last key: with half as many queries the diagonal begins in the middle.
    p.seq_q = 32;
    CHECK(drawn("band:1") == "00011100 00001110 00000111 00000011 ");
    p.seq_q = p.seq_k = 100 * 8;
    const BlockMask m = block_mask("random:0.25", p, 8, 8);
    CHECK(std::abs(std::count(m.seen.begin(), m.seen.end(), true) - 2500) < 150);
}
