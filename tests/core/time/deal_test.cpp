// Row blocks that persistent thread blocks are dealt in pairs, beside the loop of a kernel that takes them.
#include <set>
#include <utility>

#include "core/time/dispatch.hpp"
#include "core/time/timeline.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;

namespace {

using RowBlocks = std::vector<std::pair<Index, Index>>;  // head, row block

/// What one thread block takes, written after for_row_tiles() of flash_v3's kernel.
RowBlocks taken_by(Index block, Index heads, Index rows, Index sms, Index cluster) {
    const Index row_tiles = (rows + cluster - 1) / cluster, tiles = row_tiles * heads;
    const Index blocks = std::min(tiles, sms / cluster);
    const bool paired = tiles > blocks;
    const Index of_head = paired ? (row_tiles + 1) / 2 : row_tiles, all = of_head * heads;
    RowBlocks taken;
    for (Index round = 0; round * blocks < all; ++round) {
        const Index n = round * blocks + (block / cluster + round) % blocks;
        if (n >= all) continue;
        const Index head = n / of_head, last = row_tiles - 1 - n % of_head, first = row_tiles - 1 - last;
        for (Index i = last;; i = first) {
            if (const Index row = i * cluster + block % cluster; row < rows) taken.emplace_back(head, row);
            if (!paired || i == first) break;
        }
    }
    return taken;
}

std::vector<Axis> causal(Index heads, Index rows) {
    const Tiles tiles(rows, 1, "i");
    return {uniform(heads, "head"), graded(tiles, Seen(tiles).and_before_end(0))};
}

}  // namespace

TEST_CASE("pairs of row blocks go to the thread blocks that take them in the kernel", "[deal]") {
    for (const Index sms : {1, 2, 7, 132})
        for (const Index cluster : {1, 2})
            for (const Index heads : {1, 3, 16, 64})
                for (const Index rows : {1, 2, 5, 8, 9, 32, 67, 133, 200}) {
                    CAPTURE(sms, cluster, heads, rows);
                    if (sms < cluster) continue;
                    const Dealt dealt = deal_pairs(causal(heads, rows), sms, cluster);
                    REQUIRE(std::ssize(dealt.blocks) == heads * rows);
                    REQUIRE(dealt.places.size() == dealt.blocks.size());
                    std::vector<RowBlocks> by_place(static_cast<std::size_t>(sms));
                    std::set<std::pair<Index, Index>> once;
                    for (std::size_t k = 0; k < dealt.blocks.size(); ++k) {
                        REQUIRE(dealt.places[k] < sms);
                        const auto& [head, row] = dealt.blocks[k];
                        by_place[dealt.places[k]].emplace_back(head, row);
                        once.emplace(head, row);
                    }
                    CHECK(std::ssize(once) == heads * rows);
                    const Index blocks = std::min((rows + cluster - 1) / cluster * heads, sms / cluster) * cluster;
                    for (Index place = 0; place < sms; ++place)
                        CHECK(by_place[static_cast<std::size_t>(place)] ==
                              (place < blocks ? taken_by(place, heads, rows, sms, cluster) : RowBlocks{}));
                }
}

TEST_CASE("a long row block comes before its short partner", "[deal]") {
    // Five row blocks: the middle one has no partner. Two places, so the second round begins at the second one.
    const Dealt dealt = deal_pairs(causal(2, 5), 2);
    RowBlocks of[2];
    for (std::size_t k = 0; k < dealt.blocks.size(); ++k)
        of[dealt.places[k]].emplace_back(dealt.blocks[k].head, dealt.blocks[k].block);
    CHECK(of[0] == RowBlocks{{0, 4}, {0, 0}, {1, 4}, {1, 0}, {1, 3}, {1, 1}});
    CHECK(of[1] == RowBlocks{{0, 3}, {0, 1}, {0, 2}, {1, 2}});
}

TEST_CASE("where there is no room for a cluster, pairs go to the places that there are", "[deal]") {
    const Dealt dealt = deal_pairs(causal(3, 4), 1, 2);
    CHECK(std::ssize(dealt.blocks) == 12);
    for (const std::uint32_t place : dealt.places) CHECK(place == 0);
}

TEST_CASE("a place takes the blocks that it was dealt one after the other", "[deal]") {
    // Row block r takes r + 1 cycles, so a pair takes 5. Of three places that get the two pairs of a head, one is idle.
    Grid grid;
    for (int r = 0; r < 4; ++r) grid.kinds.push_back({1.0 + r});
    const auto timeline = [&](Index heads, Index sms) {
        const Dealt dealt = deal_pairs(causal(heads, 4), sms);
        grid.sequence.clear(), grid.places = dealt.places;
        for (const BlockOfHead& b : dealt.blocks) grid.sequence.push_back(b.block);
        return deal(grid, sms, 1);
    };
    const Timeline busy = timeline(2, 2);
    CHECK(busy.cycles == 10);
    CHECK(busy.resident == 1);
    CHECK(busy.shared[0].at_work == 2);
    REQUIRE(busy.stays.size() == 8);
    CHECK(busy.stays[0].to == 4);
    CHECK(busy.stays[1].sm == busy.stays[0].sm);
    CHECK(busy.stays[1].from == 4);
    const Timeline idle = timeline(1, 3);
    CHECK(idle.cycles == 5);
    CHECK(idle.shared[0].at_work == 2);
}
