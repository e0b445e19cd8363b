// Lanes timed from the tile program itself: the periods of acts typed by hand (lanes_test.cpp), and who waits for whom.
#include "core/time/lane_programs.hpp"

#include <array>
#include <cmath>
#include <string>

#include "tests/support/laned.hpp"
#include "tests/support/laned_attention.hpp"

using namespace tilescope;
using namespace tilescope::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Cycles per step, from runs of 8 and of 16 steps, as in lanes_test.cpp.
double period(LanedAttention a, const LanedMachine& m) {
    a.steps = 8;
    const double shorter = PlayedAttention(a, m).play.end;
    a.steps = 16;
    return (PlayedAttention(a, m).play.end - shorter) / 8;
}

}  // namespace

TEST_CASE("lanes: periods of the tile program, to the cycle", "[lanes]") {
    const auto bare = [](const LanedAttention& a) { return std::lround(period(a, {})); };
    CHECK(bare({.groups = 1}) == 1904);
    CHECK(bare({}) == 2871);
    CHECK(bare({.turns = true}) == 2471);
    CHECK(bare({.overlap = true, .turns = true}) == 2425);
    CHECK(bare({.turns = true, .one_lane = true}) == 2471);
    CHECK(bare({.overlap = true, .turns = true, .one_lane = true}) == 2425);
    struct Row {
        Index dim;
        std::array<long, 5> cycles;
    };
    for (const Row& row : {Row{64, {2854, 2194, 1935, 1927, 1945}}, Row{128, {4369, 2998, 2547, 2541, 2549}},
                           Row{256, {8738, 5030, 5351, 4369, 4369}}}) {
        INFO("d = " << row.dim);
        const auto compiled = [&](LanedAttention a, LanedMachine m = {1.1, 30}) {
            a.dim = row.dim;
            return std::lround((a.groups == 1 ? 2 : 1) * period(a, m));
        };
        const LanedAttention both{.overlap = true, .turns = true, .slots = row.dim == 64 ? 7 : 6};
        CHECK(std::array{compiled({.groups = 1}), compiled({}), compiled({.turns = true}), compiled({.overlap = true}),
                         compiled(both)} == row.cycles);
        const long not_slowed = compiled(both, {1.1, 30, 0, 0, 0});
        if (row.dim < 256) CHECK(not_slowed == (row.dim == 64 ? 1252 : 2185));
    }
}

TEST_CASE("lanes: a ring of the tile program that cannot go on", "[lanes]") {
    // One slot for K and V: the group that has the turn waits for K, while the other group holds the slot that K needs.
    CHECK_THROWS_WITH(
        PlayedAttention({.turns = true, .slots = 1}),
        "producer waits for slot 0 of KV, which WG2 gives; WG2 waits for the turn of WG2, which WG1 gives; "
        "WG1 waits for K of step 1, which producer gives");
    CHECK_NOTHROW(PlayedAttention({.slots = 1}));
    for (const bool overlap : {false, true})
        for (const bool turns : {false, true})
            for (const bool one_lane : {false, true})
                for (const Index slots : {2, 3, 4, 6})
                    for (const Index steps : {1, 2, 5}) {
                        INFO(overlap << turns << one_lane << ' ' << slots << " slots, " << steps << " steps");
                        const LanedAttention a{
                            .overlap = overlap, .turns = turns, .slots = slots, .one_lane = one_lane, .steps = steps};
                        CHECK_NOTHROW(PlayedAttention(a));
                    }
}

TEST_CASE("lanes: the tile program of two consumers, played", "[lanes]") {
    // The same program that lane_test.cpp counts, executes, records and steps.
    LanePrograms lanes(PlayedAttention::rates(), {});
    Gpu gpu(small_gpu(), numeric_mode, 1);
    gpu.listen(lanes);
    run_laned(gpu, {});
    REQUIRE(lanes.programs().size() == 3);
    const LanePlay play = play_lanes(lanes.programs(), lanes.machine(), true);
    // Every load and every product of a thread block, each once.
    std::array<int, 2> of_kind{};
    for (const LanePhase& p : play.phases) {
        of_kind[0] += p.kind == Act::Kind::load;
        of_kind[1] += p.kind == Act::Kind::product;
    }
    CHECK(of_kind == std::array{2 + 2 * 3, 2 * 2 * 3});
    // Shared units take the sum of both groups' time: products, and bytes.
    CHECK(play.tensor >= 3 * 2 * 2 * 2 * 8 * 13 * 8 / 4096.0);
    CHECK(play.end >= 4.0 * 8 * (16 + 2 * 40) / 30 + 555);
}
