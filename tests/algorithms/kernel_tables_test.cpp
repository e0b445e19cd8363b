// Tables that kernels look up, compared with the definitions element by element. Nothing runs on a GPU here.
#include "algorithms/contract/block_mask.hpp"
#include "algorithms/cuda/tables.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;

namespace {

struct Seen {
    bool any = false, all = true;
};

Seen by_elements(const Problem& p, Span rows, Span keys) {
    Seen seen;
    for (Index r = rows.begin; r < rows.end(); ++r)
        for (Index k = keys.begin; k < keys.end(); ++k) p.sees(r, k) ? seen.any = true : seen.all = false;
    return seen;
}

/// The case without packed heads: kernels have tables only for heads that are not packed.
Case unpacked_case(Case c) {
    if (c.problem.packed > 1) c.problem.packed = 1;
    return c;
}

void check_visits(const Case& c, const KernelTables& t) {
    const Tiles rows(c.problem.seq_q, c.tiling.br), keys(c.problem.seq_k, c.tiling.bc);
    REQUIRE(t.first.size() == static_cast<std::size_t>(3 * rows.count()));
    for (Index i = 0; i < rows.count(); ++i) {
        const std::int32_t* const of = t.first.data() + 3 * i;
        std::vector<int> times(static_cast<std::size_t>(keys.count()));
        for (std::int32_t v = of[0]; v < of[2]; ++v) {
            const Index tile = t.visits[static_cast<std::size_t>(v)];
            ++times[static_cast<std::size_t>(tile)];
            const Seen seen = by_elements(c.problem, rows[i], keys[tile]);
            CHECK((seen.all && keys[tile].size == c.tiling.bc) == (v < of[1]));
        }
        for (Index j = 0; j < keys.count(); ++j)
            CHECK(times[static_cast<std::size_t>(j)] == (by_elements(c.problem, rows[i], keys[j]).any ? 1 : 0));
    }
}

/// Whether a row sees a key, as Masked::sees() in algorithms/cuda/seen.cuh computes it.
bool sees(const Problem& p, const KernelTables& t, Index row, Index key) {
    const auto at = [&](Index k) { return t.documents[static_cast<std::size_t>(k)]; };
    const Index distance = key - row - p.diagonal();
    if (p.mask.left() && distance < -*p.mask.left()) return false;
    if (p.mask.right() && distance > *p.mask.right()) return false;
    if (!t.documents.empty() && (key < at(2 * row) || key >= at(2 * row + 1))) return false;
    const BlockMask* b = p.mask.blocks();
    return !b || t.blocks[static_cast<std::size_t>(row / b->block_rows * b->cols + key / b->block_cols)] != 0;
}

}  // namespace

TEST_CASE("a kernel visits the tiles that are seen, those that need no mask first", "[kernels][mask]") {
    for (std::uint64_t seed = 1; seed <= seeds(200); ++seed) {
        const Case c = unpacked_case(seed % 2 ? window_case(seed) : pattern_case(seed));
        if (scores_are_plain(c.problem)) continue;
        INFO(c);
        const KernelTables t = tables_of(c.problem, c.tiling);
        check_visits(c, t);
        for (Index r = 0; r < c.problem.seq_q; ++r)
            for (Index k = 0; k < c.problem.seq_k; ++k)
                if (sees(c.problem, t, r, k) != c.problem.sees(r, k)) FAIL_CHECK("row " << r << ", key " << k);
    }
}

TEST_CASE("a kernel finds each head's slice of a bias, and its slope", "[kernels][features]") {
    Problem p;
    p.batch = 4, p.heads = p.kv_heads = 3;
    p.bias = {*Bias::terms_from("bk+ghqk"), 2};
    p.alibi = p.heads;
    const KernelTables t = tables_of(p, {64, 64});
    CHECK(t.bias_slices[0] == std::vector<std::int32_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3});
    CHECK(t.bias_slices[1] == std::vector<std::int32_t>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    REQUIRE(t.slopes.size() == 12);
    for (std::size_t head = 0; head < 12; ++head) CHECK(t.slopes[head] == alibi_slope(static_cast<Index>(head) % 3, 3));
}

TEST_CASE("kernels need no tables where all keys are seen, or those up to the diagonal", "[kernels][mask]") {
    Problem p;
    CHECK(tables_of(p, {64, 64}).first.empty());
    p.mask = Mask::causal();
    CHECK(tables_of(p, {64, 64}).first.empty());
    CHECK(tables_of(p, {64, 64}).visits.empty());
}
