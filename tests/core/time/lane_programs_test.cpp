// Lanes timed from the tile program itself: the periods of acts typed by hand (lanes_test.cpp), and who waits for whom.
#include "core/time/lane_programs.hpp"

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

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
        std::array<long, 5> cycles;  // 4,409: lanes_test.cpp has the other steady state
    };
    for (const Row& row : {Row{64, {2854, 2194, 1935, 1927, 1945}}, Row{128, {4369, 2998, 2547, 2541, 2549}},
                           Row{256, {8738, 4692, 4409, 4369, 4369}}}) {
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

TEST_CASE("lanes: warpgroups that load for themselves meet in each step", "[lanes]") {
    const auto met = [](Index dim, const LanedMachine& m) {
        return std::lround(period({.dim = dim, .one_lane = true, .producer = false}, m));
    };
    CHECK(met(128, {}) == 3127);
    const LanedMachine compiled{1.1, 30};
    CHECK(met(64, compiled) == 2334);
    CHECK(met(128, compiled) == 3250);
    CHECK(met(256, compiled) == 5138);
    const PlayedAttention played({.one_lane = true, .producer = false});
    REQUIRE(played.lanes.programs().size() == 3);
    CHECK(played.lanes.programs()[0].name == "copies of WG1");
    CHECK(played.lanes.programs()[2].name == "WG2");
}

TEST_CASE("lanes: half tiles in a ring of the tile program", "[lanes]") {
    const auto halves = [](Index slots, const LanedMachine& m) {
        const auto end = [&](Index steps) {
            const LanedAttention a{
                .dim = 256, .overlap = true, .turns = true, .slots = 3, .one_lane = true, .steps = steps};
            const LanedKernel k{.pieces = 2, .slots = slots, .sigma = m.sigma};
            return PlayedAttention(a, PlayedAttention::constants(m), k, 1).play.end;
        };
        return std::lround((end(16) - end(8)) / 8);
    };
    CHECK(halves(5, {1.1, 30}) == 4954);
    CHECK(halves(6, {1.1, 30}) == 4369);
    CHECK(halves(5, {1.1, 30, 0, 0, 0}) == 4856);
}

namespace {

/// S = Q K^T and its rows' maxima, for tiles of 64 x 128 and two steps, in f16 with d = 64. On the bus of 64 bytes per
/// cycle a tile of K takes 256 cycles, and Q for a warpgroup 128. A product takes 256, and the maxima 128.
LanePlay products_and_maxima(Index groups, bool producer, LanedKernel kernel) {
    LaneConstants c = first_model();
    c.bus = 64, c.latency = 100, c.tensor = 4096, c.notices = 58, c.barrier = 30, c.beside = c.beside_dense = 0;
    kernel.sigma = 1;
    LanePrograms lanes(PlayedAttention::rates(), c, kernel);
    Gpu gpu(small_gpu(), exact_mode, 1);
    gpu.listen(lanes);
    const Hbm Q = gpu.add({"Q", Role::input, Dtype::f16, 1, groups * 64, 64, nullptr}),
              K = gpu.add({"K", Role::input, Dtype::f16, 1, 256, 64, nullptr});
    gpu.launch("products", {uniform(Tiles(groups * 64, groups * 64))}, [&](Block& b, Span i) {
        std::optional<Lane> own;
        if (producer) own.emplace(b.lane("producer", {.warps = 1}));
        Lane consumer = b.lane("consumer", {.warps = 4 * groups});
        const Lane& loads = own ? *own : consumer;
        Ring ring = b.ring("ring", 2, 128, 64, Dtype::f16);
        Tile q = loads->load(Q, i), m = b.alloc_registers("m", i.size, 1);
        b.uniform(Tiles(256, 128, "j"), [&](Span j) {
            Tile k = loads->load(ring, K, j), s = b.alloc_registers("S", i.size, 128);
            consumer->matmul(s, q, k, Trans::b);
            row_max(*consumer, m, s);
        });
    });
    return play_lanes(lanes.programs(), lanes.machine(), true);
}

/// From when to when the loads, or the products, took their unit.
std::vector<std::array<double, 2>> times_of(Act::Kind kind, const LanePlay& play) {
    std::vector<std::array<double, 2>> all;
    for (const LanePhase& p : play.phases)
        if (p.kind == kind) all.push_back({p.from, kind == Act::Kind::load ? p.sent : p.to});
    return all;
}

using Times = std::vector<std::array<double, 2>>;

}  // namespace

TEST_CASE("lanes: a slot of half a tile is filled again when half a product is done", "[lanes]") {
    // The whole K_0 frees its only slot when its product is done: Q came at 384 + 100 and a barrier, 514.
    const LanePlay whole = products_and_maxima(1, true, {.slots = 1});
    CHECK(times_of(Act::Kind::load, whole) == Times{{0, 256}, {256, 384}, {770, 1026}});
    CHECK(times_of(Act::Kind::product, whole) == Times{{514, 770}, {1126, 1382}});
    CHECK(whole.end == 1382 + 58 + 128);
    // Three slots of half a tile: K_1's second half comes into the slot that half a product frees, at 642. The
    // warpgroup asks for the next product after this one's maxima: 770 + 58 + 128.
    const LanePlay halves = products_and_maxima(1, true, {.pieces = 2, .slots = 3});
    CHECK(times_of(Act::Kind::load, halves) == Times{{0, 128}, {128, 256}, {256, 384}, {384, 512}, {642, 770}});
    CHECK(times_of(Act::Kind::product, halves) == Times{{514, 642}, {642, 770}, {956, 1084}, {1084, 1212}});
    CHECK(halves.end == 1212 + 58 + 128);
}

TEST_CASE("lanes: where all meet, nobody goes on before the last has come", "[lanes]") {
    // Q for both takes 256 cycles: both have it at 512 + 100 and a barrier, meet, and go on another barrier later. The
    // first has its maxima at 928 + 58 + 128 and the second 256 cycles later, at 1370, when they meet again.
    const LanePlay play = products_and_maxima(2, false, {});
    CHECK(times_of(Act::Kind::product, play) == Times{{672, 928}, {928, 1184}, {1400, 1656}, {1656, 1912}});
    double waited = 0;
    for (const LaneWait& w : play.waits)
        if (w.awaited == Awaited::all) waited += w.cycles;
    CHECK(waited == 256);
    CHECK(play.end == 1912 + 58 + 128);
}

TEST_CASE("lanes: a ring of the tile program that cannot go on", "[lanes]") {
    // One slot for K and V: the group that has the turn waits for K, while the other group holds the slot that K needs.
    CHECK_THROWS_WITH(
        PlayedAttention({.turns = true, .slots = 1}),
        "producer waits for slot 0 of KV, which WG2 gives; WG2 waits for the turn of WG2, which WG1 gives; "
        "WG1 waits for K of step 1, which producer gives");
    CHECK_NOTHROW(PlayedAttention({.slots = 1}));
}

namespace {

/// Whether a chain of two tiles ends. Who has the turn waits for the next tile of K, whose slot the other warpgroup
/// frees only with the turn. Q comes after the first tile of K, of which all pieces need a slot.
bool is_stuck(const LanedAttention& a, const LanedKernel& k) {
    return k.slots < k.pieces ||
           (a.turns && k.batons == 1 && a.producer && a.groups > 1 && a.steps > 1 && k.slots < 2 * k.pieces);
}

void check_end(const LanedAttention& a, const LanedKernel& k) {
    INFO(a.groups << " groups, " << a.steps << " steps, " << k.slots << " slots, " << k.pieces << " pieces, output "
                  << static_cast<int>(k.output) << (a.overlap ? ", overlap" : "") << (a.turns ? ", turns" : "")
                  << (a.one_lane ? ", one lane" : "") << (a.producer ? "" : ", no producer"));
    if (!is_stuck(a, k)) {
        const PlayedAttention played(a, {}, k, 2);
        CHECK(played.play.ends.size() == 2 * played.lanes.programs().size());
        return;
    }
    std::string said;
    try {
        PlayedAttention(a, {}, k, 2);
    } catch (const Stuck& stop) {
        said = stop.what();
    }
    CHECK_THAT(said, ContainsSubstring(" waits for "));
    CHECK_THAT(said, !ContainsSubstring("which nobody gives"));
}

}  // namespace

TEST_CASE("lanes: chains of tiles end, or say who waits for whom", "[lanes]") {
    using P = OutputPlace;
    for (const P output : {P::own, P::query, P::ring})
        for (const bool overlap : {false, true})
            for (const bool turns : {false, true})
                for (const bool producer : {false, true})
                    for (const Index groups : {1, 2, 3})
                        for (const Index steps : {1, 2, 3})
                            for (const Index pieces : {1, 2})
                                for (Index slots = 1; slots <= 2 * pieces + 1; ++slots)
                                    check_end({.groups = groups,
                                               .overlap = overlap,
                                               .turns = turns,
                                               .one_lane = true,
                                               .steps = steps,
                                               .producer = producer},
                                              {.output = output, .pieces = pieces, .slots = slots});
    // With two batons nobody has a turn while it waits for a tile.
    for (const bool overlap : {false, true})
        for (const Index groups : {1, 2, 3})
            for (const Index steps : {1, 2, 3})
                for (const Index pieces : {1, 2})
                    for (Index slots = 1; slots <= 2 * pieces + 1; ++slots)
                        check_end(
                            {.groups = groups, .overlap = overlap, .turns = true, .one_lane = true, .steps = steps},
                            {.pieces = pieces, .slots = slots, .batons = 2});
    // A lane for each warpgroup.
    for (const bool overlap : {false, true})
        for (const bool turns : {false, true})
            for (const Index slots : {1, 2, 3, 4, 6})
                for (const Index steps : {1, 2, 5})
                    check_end({.overlap = overlap, .turns = turns, .steps = steps}, {.slots = slots});
    CHECK_THROWS_WITH(PlayedAttention({.turns = true, .one_lane = true}, LaneConstants{}, {.slots = 1, .blocks = 2}, 2),
                      "producer waits for slot 0 of KV, which WG2 gives; "
                      "producer of block 2 waits for slot 0 of KV, which WG2 of block 2 gives; "
                      "WG1 waits for K of step 1, tile 1, which producer gives; "
                      "WG2 waits for the turn of WG2, which WG1 gives; "
                      "WG2 of block 2 waits for the turn of WG2 of block 2, which WG1 of block 2 gives; "
                      "WG1 of block 2 waits for K of step 1, tile 1, which producer of block 2 gives");
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
    CHECK(play.busy.tensor >= 3 * 2 * 2 * 2 * 8 * 13 * 8 / 4096.0);
    CHECK(play.end >= 4.0 * 8 * (16 + 2 * 40) / 30 + 555);
}
