// What is shown of a program with lanes: a chart in letters, what takes room on an SM, and who does what.
#include <sstream>

#include "core/text/words.hpp"
#include "show/stage/lane_chart.hpp"
#include "show/stage/lanes_figure.hpp"
#include "show/stage/lanes_text.hpp"
#include "show/words/narration.hpp"
#include "tests/support/laned_attention.hpp"
#include "tests/support/runs.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;
using namespace tilescope::testing;

namespace {

/// The lanes of bare instructions, from the eighth step of fourteen on.
struct SeenLanes {
    PlayedAttention played;
    LaneView view;

    explicit SeenLanes(const LanedAttention& a, Index steps = 1)
        : played(a, {}, true), view(played.lanes.programs(), played.play, 7, steps, 4) {}

    /// "0 to 512": when the lane does this in the first shown step.
    std::string when(std::uint32_t lane, LaneDoing doing, const std::string& what) const {
        for (const LaneSegment& s : view.segments())
            if (s.lane == lane && s.doing == doing && s.what == what && s.from >= 0)
                return std::to_string(std::lround(s.from)) + " to " + std::to_string(std::lround(s.to));
        return "never";
    }
    std::string chart(int width) const { return '\n' + lane_chart(view, width); }
};

LanedAttention four_kinds(int k) {
    constexpr bool turns[] = {false, false, true, true}, overlap[] = {false, false, false, true};
    return {.groups = k == 0 ? 1 : 2, .overlap = overlap[k], .turns = turns[k], .steps = 14};
}

}  // namespace

TEST_CASE("a step of one warpgroup is the sum of its parts", "[lanes]") {
    const SeenLanes one(four_kinds(0));
    const std::uint32_t wg1 = one.view.groups()[0];
    CHECK(one.view.name_of(wg1) == "WG1");
    CHECK(std::lround(one.view.step()) == 1904);
    CHECK(one.when(wg1, LaneDoing::product, "S") == "0 to 512");
    CHECK(one.when(wg1, LaneDoing::busy, "S") == "512 to 570");
    CHECK(one.when(wg1, LaneDoing::work, "update_row_max") == "570 to 698");
    CHECK(one.when(wg1, LaneDoing::work, "shuffle") == "698 to 758");
    CHECK(one.when(wg1, LaneDoing::work, "exp_minus") == "758 to 1270");
    CHECK(one.when(wg1, LaneDoing::work, "scale_rows") == "1270 to 1334");
    CHECK(one.when(wg1, LaneDoing::product, "O") == "1334 to 1846");
    CHECK(std::lround(100 * one.view.shares().tensor_cores) == 54);
    CHECK(one.view.shares().both == 0);
}

TEST_CASE("lanes of four kinds of kernels have the steps and shares of the model", "[lanes]") {
    constexpr long steps[] = {1904, 2871, 2471, 2425}, tensor[] = {54, 72, 83, 86};
    for (int k = 0; k < 4; ++k) {
        const SeenLanes seen(four_kinds(k));
        CHECK(std::lround(seen.view.step()) == steps[k]);
        CHECK(std::lround(100 * seen.view.shares().tensor_cores) == tensor[k]);
        for (const LaneTimes& t : seen.view.times()) {
            if (seen.view.group_of(t.lane) < 0) continue;
            double all = t.work + t.busy;
            for (const double w : t.waits) all += w;
            CHECK_THAT(all, Catch::Matchers::WithinAbs(seen.view.step(), 1));
        }
    }
    const SeenLanes turns(four_kinds(2));
    for (const LanePart& p : turns.view.parts()) {
        if (p.what == "exp_minus") CHECK(std::lround(p.alone) == 512);
        if (p.what == "exp_minus" || p.what == "update_row_max") CHECK(p.cycles > 1.4 * p.alone);
    }
}

TEST_CASE("what ends a wait, whose turn it is and what lies in slots are functions of the cycle", "[lanes]") {
    const SeenLanes seen(four_kinds(2), 2);
    const LaneView& view = seen.view;
    for (const LaneSegment& s : view.segments()) {
        if (s.doing != LaneDoing::wait) continue;
        REQUIRE(s.ended_by != no_segment);
        const LaneSegment& by = view.segments()[s.ended_by];
        CHECK_THAT(by.to, Catch::Matchers::WithinAbs(s.to, 1e-3));
        if (s.awaited == Awaited::product) CHECK((by.doing == LaneDoing::product && by.lane == s.lane));
        if (s.awaited == Awaited::load) CHECK(by.doing == LaneDoing::load);
        if (s.awaited == Awaited::turn) CHECK(by.doing == LaneDoing::hand_on);
    }
    const auto turn = [&](double cycle) { return view.name_of(view.batons()[0].at(cycle)->lane); };
    CHECK(turn(view.batons()[0].turns[4].at - 1) != turn(view.batons()[0].turns[4].at));
    for (const LaneSlot& slot : view.slots())
        for (const SlotStay& stay : slot.stays) {
            if (stay.readers.empty()) continue;
            CHECK(stay.readers.size() == 2);
            CHECK(view.state_at(slot, (stay.from + stay.there) / 2) == SlotState::loading);
            const LaneSegment& reader = view.segments()[stay.readers[0]];
            CHECK(view.state_at(slot, (reader.from + reader.to) / 2) == SlotState::in_use);
        }
    const std::string before = lane_sentence(view, 1000);
    lane_sentence(view, 2000);
    CHECK(lane_sentence(view, 1000) == before);
    CHECK(before == "At cycle 1,000 WG2 waits for P V(j-1), which tensor cores finish at 1,127.");
    CHECK(lane_sentence(SeenLanes(four_kinds(1)).view, 1000) ==
          "At cycle 1,000 WG2 waits for S(j), which tensor cores finish at 1,024.");
    CHECK(text::join(lane_sentences(view, 300), "\n") ==
          "Producer waits for a free slot; P V(j-1) of WG2 frees one at 1,127.\n"
          "Tensor cores compute S(j) of WG1 until 512.\n"
          "WG1 waits for S(j), which tensor cores finish at 512.\n"
          "WG2 computes exp(j-1) until 521.\n"
          "WG2 has the turn since cycle 0.\n"
          "The rings: slot 0 of KV: K(j+2) loading, slot 1 of KV: V(j-1) full, slot 2 of KV: K(j) in use, slot "
          "3 of KV: V(j) full, slot 4 of KV: K(j+1) full, slot 5 of KV: V(j+1) full.");
}

TEST_CASE("no stretch of a warpgroup's row is left unnamed", "[lanes]") {
    for (int k = 0; k < 4; ++k) {
        const SeenLanes seen(four_kinds(k), 2);
        const LaneView& view = seen.view;
        for (const std::uint32_t lane : view.groups())
            for (double cycle = 0.5; cycle < view.cycles(); ++cycle) {
                INFO(cycle);
                REQUIRE(view.own_at(lane, cycle));
                REQUIRE_THAT(lane_clause(view, lane, cycle), !Catch::Matchers::ContainsSubstring("goes on at once"));
            }
        std::istringstream chart(lane_chart(view, 200));
        for (std::string line; std::getline(chart, line);)
            if (line.find("CUDA cores") != std::string::npos)
                CHECK(line.find(' ', line.find('|')) == std::string::npos);
    }
    const LaneView view = SeenLanes(four_kinds(2)).view;
    CHECK(lane_clause(view, view.groups()[0], 540) == "WG1 notices that S(j) is done, until 570");
}

TEST_CASE("each baton of two has turns of its own", "[lanes]") {
    LanedAttention a = four_kinds(3);
    a.one_lane = true;
    const PlayedAttention played(a, LaneConstants{}, {.batons = 2}, 1, true);
    const LaneView view(played.lanes.programs(), played.play, 7, 1, 4);
    REQUIRE(view.batons().size() == 2);
    CHECK(turn_word(view, view.batons()[0]) == "turn at S");
    CHECK(turn_word(view, view.batons()[1]) == "turn at P V");
    bool differ = false;
    for (double cycle = 0; cycle < view.cycles(); ++cycle)
        differ |= view.batons()[0].at(cycle)->lane != view.batons()[1].at(cycle)->lane;
    CHECK(differ);
    CHECK(SeenLanes(four_kinds(3)).view.batons().size() == 1);
    CHECK(SeenLanes(four_kinds(1)).view.batons().empty());
}

TEST_CASE("lanes are drawn over time", "[lanes]") {
    CHECK(SeenLanes(four_kinds(0)).chart(100) == R"(
cycle             |0          250       500        750       1,000      1,250     1,500      1,750 |
bus               |VVVVVVVVVVVVVVVVVVVVV KKKKKKKKKKKKKKKKKKKKKK                                  VV|
WG1 tensor cores  |SSSSSSSSSSSSSSSSSSSSSS                                  OOOOOOOOOOOOOOOOOOOOOO  |
WG1 CUDA cores    |----------------------++mmmmmrrreeeeeeeeeeeeeeeeeeeeexxx----------------------++|
slot 0 of KV      |KKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKK|
slot 1 of KV      |............................................VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVV|
slot 2 of KV      |######################..............................................KKKKKKKKKKKK|
slot 3 of KV      |VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVV######################..|
slot 4 of KV      |KKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKK|
slot 5 of KV      |VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVV|
)");
    CHECK(SeenLanes(four_kinds(3)).chart(110) == R"(
cycle             |0                  500               1,000              1,500             2,000           |
bus               |VVVVVVVVV                                                  KKKKKKKKKKKKKKKKKKKKVVVVVVVVVVV|
WG1 tensor cores  |SSSSSSSSSSSSSSSSSSSOOOOOOOOOOOOOOOOOOOOO                                                  |
WG1 CUDA cores    |-------------------++mmmmmmmmmmmmmmmmrrreeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee+++xx+|
WG2 tensor cores  |                                        SSSSSSSSSSSSSSSSSSSOOOOOOOOOOOOOOOOOOO            |
WG2 CUDA cores    |eeeeeeeeeeeeeeeeeeeeeeeeeee+++xxxxxxx+---------------------++mmmmmmmmmmmmmmmmmrreeeeeeeeee|
turn              |222222222222222222222222222222222222221111111111111111111111111111111111111111111111111111|
slot 0 of KV      |..............................VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVV|
slot 1 of KV      |###################KKKKKKKKKKKKKKKKKKKKK###################...............................|
slot 2 of KV      |VVVVVVVVVVVVVVVVVVV#####################VVVVVVVVVVVVVVVVVVV################### ...........|
slot 3 of KV      |KKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKK|
slot 4 of KV      |VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVV|
slot 5 of KV      |..........KKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKK|
)");
    const LaneView views[] = {SeenLanes(four_kinds(2)).view};
    CHECK(lane_legend(views) ==
          "Letters: S S = Q K^T; O P V: O = O + P V; m max: the largest score of each row; r reduce: the row's "
          "threads compare; e exp: P = exp(S - m), and its sums; x rescale: O by exp(old m - m). A warpgroup "
          "waits for its product (-), its turn (.) or data (~). \"+\" is the time until it has noticed that what "
          "it waited for is there, has taken its turn, or has stored. A slot is blank where it is empty, shows "
          "\".\" while its tile is loaded, the tile's letter where it is full, and \"#\" while a product reads it.");
}

TEST_CASE("the finding about lanes names what sets the pace", "[lanes]") {
    CHECK(lane_finding(SeenLanes(four_kinds(1)).view) ==
          "No unit is full: tensor cores are at work 72% of the time and CUDA cores 60%, because lanes wait for"
          " each other.");
    CHECK(lane_finding(SeenLanes(four_kinds(3)).view) ==
          "CUDA cores are at work 98% of the time and tensor cores 86%: both are nearly full, and one more "
          "overlap buys little.");
}

TEST_CASE("a figure of lanes has rows on one axis", "[lanes][figure]") {
    FigureRequest r;
    const Figure f = lanes_figure(r);
    REQUIRE(f.panels.size() == 1);
    const Panel& p = f.panels[0];
    CHECK(p.rows > 12);
    CHECK(p.y.ticks.size() == 3 + 4 + 5 + 5);
    for (const Box& b : p.boxes) {
        CHECK(b.left >= 0);
        CHECK(b.right <= *p.x.to);
        CHECK(b.bottom >= *p.y.from);
    }
    r.options.gpu = "A100-40GB";
    CHECK_THROWS_WITH(lanes_figure(r), Catch::Matchers::ContainsSubstring("has no lanes"));
}

TEST_CASE("what has its place in a ring, or in a lane's registers, is counted once", "[run][lane]") {
    Experiment e = experiment(*find_algorithm("flash_v2"), cases()[0]);
    Algorithm own = *e.algorithm;
    own.lineage.file = "mine.cpp";
    own.run = [](Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
        const Hbm Q = t["Q"], O = t["O"], LSE = t["LSE"];
        gpu.launch("copy", {p.head_axis(), uniform(Tiles(p.seq_q, tile.br, "i"))}, [&](Block& b, Span head, Span i) {
            Lane lane = b.lane("WG1", {.warps = 1, .registers_per_thread = 24});
            Ring ring = b.ring("Q", 2, tile.br, p.dim, Q.dtype());
            Tile q = lane->load(ring, Q.of(head), i), o = lane->alloc_registers("O", i.size, p.dim_v);
            b.store(o, O.of(head), i), b.store(lane->alloc_registers("l", i.size, 1), LSE.of(head), i);
        });
    };
    e.algorithm = &own;
    Run r = run_of(e, 1);
    Bytes most = 0;
    for (Index tick = 1; tick <= r.ticks(); ++tick) {
        r.seek(tick);
        for (const SmState& s : r.moment().sms)
            if (!s.steps.empty()) {
                const Event& last = r.trace()[s.steps.back()].event;
                CHECK(s.sram_used == last.sram_used);
                CHECK(s.registers_used == last.registers_used);
                most = std::max(most, s.sram_used);
                if (const Step* operation = r.operation(s); operation && operation->event.kind() == Kind::load)
                    CHECK_THAT(what_happens(r, s),
                               Catch::Matchers::StartsWith("SM " + std::to_string(s.sm) + " (WG1) "));
            }
    }
    CHECK(most == 2 * e.tiling.br * e.problem.dim * size_of(e.problem.dtype));
}
