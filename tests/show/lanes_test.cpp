// What is shown of a program with lanes: a chart in letters, what takes room on an SM, and who does what.
#include "show/stage/lane_chart.hpp"
#include "show/words/narration.hpp"
#include "tests/support/laned_attention.hpp"
#include "tests/support/runs.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;
using namespace tilescope::testing;

namespace {

std::string drawn(const LanedAttention& a, Index step, double cycles, int columns) {
    const PlayedAttention played(a, {}, true);
    for (const LanePhase& p : played.play.phases)
        if (p.what == std::string("S") && p.step == step && p.kind == Act::Kind::product)
            return '\n' + show::lane_chart(played.lanes.programs(), played.play, p.from, p.from + cycles, columns);
    return "";
}

}  // namespace

TEST_CASE("lanes are drawn over time", "[lanes]") {
    CHECK(drawn({.groups = 1, .steps = 14}, 7, 1904, 76) == R"(
producer  warps         |----------------------------------------------------------------------------|
producer  bus           |VVVVVVVVVVVVVVVVVVVVKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKK          VV|
WG1       tensor cores  |SSSSSSSSSSSSSSSSSSSS                                 OOOOOOOOOOOOOOOOOOOOO  |
WG1       warps         |--------------------   uuuuusseeeeeeeeeeeeeeeeeeeeecc---------------------  |
u update_row_max, s shuffle, e exp_minus, c scale_rows, d divide_rows
)");
    CHECK(drawn({.turns = true, .steps = 14}, 7, 2471, 90) == R"(
producer  warps         |------------------------------------------------------------------------------------------|
producer  bus           |KKKKKKKKKKKK                             VVVVVVVVVVVVVVVVVVVVVKKKKKKKKKKKKKKKKKKKKKKKKKKKK|
WG1       tensor cores  |SSSSSSSSSSSSSSSSSSS                                                  OOOOOOOOOOOOOOOOOOO  |
WG1       warps         |-------------------  uuuuuuuuusseeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeecc -------------------  |
WG2       tensor cores  |                      OOOOOOOOOOOOOOOOOOO  SSSSSSSSSSSSSSSSSSS                            |
WG2       warps         |eeeeeeeeeeeeeeeeeeecc -------------------  -------------------  uuuuusseeeeeeeeeeeeeeeeeee|
u update_row_max, s shuffle, e exp_minus, c scale_rows, d divide_rows
)");
    CHECK(drawn({.overlap = true, .turns = true, .steps = 14}, 7, 2425, 90) == R"(
producer  warps         |------------------------------------------------------------------------------------------|
producer  bus           |VVVVVVVVVVVVVVVVVVVVVVVVVVVVVV                             KKKKKKKKKKKKKKKKKKKKVVVVVVVVVVV|
WG1       tensor cores  |SSSSSSSSSSSSSSSSSSSOOOOOOOOOOOOOOOOOOOOO                                                  |
WG1       warps         |-------------------  uuuuuuuuuuuuuuuussseeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee  ccc |
WG2       tensor cores  |                                        SSSSSSSSSSSSSSSSSSSOOOOOOOOOOOOOOOOOOO            |
WG2       warps         |eeeeeeeeeeeeeeeeeeeeeeeeeee  cccccccc ---------------------  uuuuuuuuuuuuuuuuusseeeeeeeeee|
u update_row_max, s shuffle, e exp_minus, c scale_rows, d divide_rows
)");
}

TEST_CASE("what has its place in a ring, or in a lane's registers, is counted once", "[run][lane]") {
    Experiment e = experiment(*find_algorithm("flash_v2"), cases()[0]);
    Algorithm own = *e.algorithm;
    own.file = "mine.cpp";
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
