#include "core/record/outline.hpp"

#include <algorithm>

#include "core/record/accesses.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;

namespace {

std::vector<Case> cases() {
    std::vector<Case> all = corner_cases();
    for (std::uint64_t seed = 1; seed <= seeds(20); ++seed) {
        all.push_back(random_case(seed));
        all.push_back(large_case(seed));
    }
    return all;
}

/// The cost of all thread blocks of a launch.
Counters sum_of(const LaunchOutline& launch) {
    Counters sum;
    for (const BlockOutline& b : launch.blocks)
        for (const Passage& p : b.passages)
            for (const Deed& d : p.deeds) sum.add(d.cost, p.total);
    return sum;
}

Counters without_marks(Counters c) {
    c.launches = c.thread_blocks = 0;
    return c;
}

}  // namespace

TEST_CASE("an outline does what the run does, no more and no less", "[outline]") {
    for (const Algorithm& a : algorithms())
        for (const Case& each : cases()) {
            const Case c = as_supported(a, each);
            INFO(to_string(a, c));
            Outline outline;
            const Outcome counted = run(a, c, roomy(), count_mode, {}, 1, &outline);
            Counters sum;
            Count blocks = 0;
            for (const LaunchOutline& l : outline.launches()) {
                sum += sum_of(l);
                for (const BlockOutline& b : l.blocks) blocks += b.blocks;
            }
            CHECK(sum == without_marks(counted.counters));
            CHECK(blocks == counted.counters.thread_blocks);
        }
}

TEST_CASE("turns that a graded axis decides add up to those of all its blocks", "[outline]") {
    Case c;
    c.problem.heads = c.problem.kv_heads = 3, c.problem.seq_q = 700, c.problem.seq_k = 1000;
    c.problem.mask = Mask::causal(), c.tiling = {64, 96};
    Outline outline;
    run(*find_algorithm("flash_v2"), c, roomy(), count_mode, {}, 1, &outline);
    const LaunchOutline& launch = outline.launches()[0];
    const Axis& rows = launch.axes[1];
    Count full = 0, ragged = 0, told_full = 0, told_ragged = 0;
    for (Index i = 0; i < rows.tiles.count(); ++i) {
        const Tiles seen = (*rows.seen)(rows.tiles[i]);
        full += 3 * seen.full(), ragged += seen.ragged() ? 3 : 0;
    }
    for (const BlockOutline& b : launch.blocks)
        for (const Passage& p : b.passages) {
            if (p.per == Passage::Per::full_tile) told_full += p.total;
            if (p.per == Passage::Per::ragged_tile) told_ragged += p.total;
        }
    CHECK(full == told_full);
    CHECK(ragged == told_ragged);
}

TEST_CASE("what a mask crosses is counted tile by tile", "[outline]") {
    for (const Mask& mask : {Mask::causal(), Mask::window(100, 30), Mask::window(std::nullopt, 7), Mask::window(50, 0)})
        for (const auto& [nq, nk] : {std::pair<Index, Index>{300, 300}, {300, 500}, {500, 300}}) {
            const Tiles rows(nq, 32, "i"), keys(nk, 48, "j");
            const Seen seen = mask.visible(keys, nk - nq);
            for (Index i = 0; i < rows.count(); ++i) {
                Index partial = 0;
                for (Index j = 0; j < keys.count(); ++j)
                    partial += mask.cover(rows[i], keys[j], nk - nq) == Cover::partial;
                INFO(mask.name() << ' ' << nq << ' ' << nk << " rows " << i);
                CHECK(seen.partial(rows[i], seen(rows[i])) == partial);
            }
        }
}

TEST_CASE("a head's visits of HBM move what the run moves", "[outline]") {
    for (const Algorithm& a : algorithms())
        for (const Case& each : corner_cases()) {
            const Case c = as_supported(a, each);
            INFO(to_string(a, c));
            Mode mode = exact_mode;
            mode.only_wanted = true;
            Accesses accesses;
            const Counters all = run(a, c, roomy(), count_mode).counters;
            run(a, c, roomy(), mode, {}, 1, &accesses);
            Bytes read = 0, written = 0;
            for (const LaunchAccesses& l : accesses.launches())
                for (const auto& block : l.block)
                    for (const Visit& v : block) (v.write ? written : read) += l.heads * l.tiles[v.tile].bytes;
            CHECK(read == all.hbm_read);
            CHECK(written == all.hbm_sent());
        }
}
