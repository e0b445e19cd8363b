#include "algorithms/contract/tile_sums.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

bool sees(const Problem& p, Index row, Index key) { return p.mask.sees(row, key, first_place(p)); }

bool any_sees(const Problem& p, Span rows, Span keys) {
    for (Index r = rows.begin; r < rows.end(); ++r)
        for (Index c = keys.begin; c < keys.end(); ++c)
            if (sees(p, r, c)) return true;
    return false;
}

/// The sums by their definition, over every pair of a row and a key.
TileSums by_pairs(const Problem& p, const Tiling& t, bool skip) {
    const Tiles rows(p.seq_q, t.br), keys(p.seq_k, t.bc);
    TileSums s{.row_blocks = rows.count(), .key_blocks = keys.count()};
    std::vector<bool> active(static_cast<std::size_t>(keys.count()));
    for (Index i = 0; i < rows.count(); ++i)
        for (Index j = 0, before = s.row_visits; j < keys.count(); ++j) {
            if (skip && !any_sees(p, rows[i], keys[j])) continue;
            if (s.row_visits == before) s.rows_active += rows[i].size;
            s.row_visits += rows[i].size;
            s.keys_streamed += keys[j].size;
            s.scores += rows[i].size * keys[j].size;
            active[static_cast<std::size_t>(j)] = true;
        }
    for (Index j = 0; j < keys.count(); ++j)
        if (active[static_cast<std::size_t>(j)]) s.keys_active += keys[j].size;
    return s;
}

bool operator==(const TileSums& a, const TileSums& b) {
    return a.row_blocks == b.row_blocks && a.key_blocks == b.key_blocks && a.row_visits == b.row_visits &&
           a.keys_streamed == b.keys_streamed && a.keys_active == b.keys_active && a.rows_active == b.rows_active &&
           a.scores == b.scores;
}

std::string text(const TileSums& s) {
    return "Tr " + std::to_string(s.row_blocks) + " Tc " + std::to_string(s.key_blocks) + " U " +
           std::to_string(s.row_visits) + " Kt " + std::to_string(s.keys_streamed) + " Ka " +
           std::to_string(s.keys_active) + " Ra " + std::to_string(s.rows_active) + " E " + std::to_string(s.scores);
}

/// Corner cases, and random ones of which more than half are causal.
std::vector<Case> cases(std::uint64_t random) {
    std::vector<Case> all = corner_cases();
    for (std::uint64_t seed = 1; seed <= seeds(random); ++seed) {
        all.push_back(random_case(seed));
        if (seed % 2) all.back().problem.mask = Mask::causal();
        if (seed % 4 == 0) all.back() = pattern_case(seed);
    }
    return all;
}

std::vector<Span> spans(Tiles tiles) {
    std::vector<Span> all;
    for (Index k = 0; k < tiles.count(); ++k) all.push_back(tiles[k]);
    return all;
}

}  // namespace

TEST_CASE("tile sums are what counting pairs of rows and keys gives", "[tile_sums]") {
    for (const Case& c : cases(2000))
        for (const bool skip : {true, false}) {
            const TileSums expected = by_pairs(c.problem, c.tiling, skip);
            const TileSums actual = tile_sums(c.problem, c.tiling, skip);
            INFO(c << (skip ? "" : ", without skipping"));
            INFO("expected " << text(expected) << "\n  actual " << text(actual));
            if (!(actual == expected)) FAIL("tile_sums");
        }
    CHECK((tile_sums(corner_cases()[0].problem, corner_cases()[0].tiling) == TileSums{4, 2, 32, 64, 16, 16, 256}));
}

TEST_CASE("a block of rows visits the key tiles in which a row of it sees a key", "[tile_sums]") {
    for (const Case& c : cases(300)) {
        const Problem& p = c.problem;
        const Tiles keys(p.seq_k, c.tiling.bc);
        for (Index begin = 0; begin < p.seq_q; begin += 1 + p.seq_q / 8)
            for (const Index size : {Index{1}, c.tiling.br, p.seq_q}) {
                const Span rows{begin, std::min(size, p.seq_q - begin)};
                std::vector<Span> expected;
                for (const Span j : spans(keys))
                    if (any_sees(p, rows, j)) expected.push_back(j);
                INFO(c << ", rows " << rows.begin << " to " << rows.end());
                if (spans(p.visible_keys(keys, rows)) != expected) FAIL("visible_keys");
            }
    }
    SUCCEED();
}

TEST_CASE("a block of keys visits the row tiles in which a row sees a key of it", "[tile_sums]") {
    for (const Case& c : cases(300)) {
        const Problem& p = c.problem;
        const Tiles rows(p.seq_q, c.tiling.br);
        for (Index begin = 0; begin < p.seq_k; begin += 1 + p.seq_k / 8)
            for (const Index size : {Index{1}, c.tiling.bc, p.seq_k}) {
                const Span keys{begin, std::min(size, p.seq_k - begin)};
                std::vector<Span> expected;
                for (const Span i : spans(rows))
                    if (any_sees(p, i, keys)) expected.push_back(i);
                INFO(c << ", keys " << keys.begin << " to " << keys.end());
                if (spans(p.seeing_rows(rows, keys)) != expected) FAIL("seeing_rows");
            }
    }
    SUCCEED();
}

TEST_CASE("grouped heads share the slices of K and V of their own batch entry", "[tile_sums]") {
    Problem p;
    p.batch = 3, p.heads = 6, p.kv_heads = 2;
    for (Index batch = 0; batch < 3; ++batch)
        for (Index head = 0; head < 6; ++head) {
            CAPTURE(batch, head);
            CHECK(p.kv_slice({batch * 6 + head, 1}) == batch * 2 + head / 3);
        }
    CHECK(p.batch_heads() == 18);
    CHECK(p.kv_slices() == 6);
}
