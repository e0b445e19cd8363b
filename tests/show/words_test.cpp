// What is said about time, values, code and setups; and the tour.
#include <cmath>
#include <set>

#include "core/text/numbers.hpp"
#include "lab/workload/npy.hpp"
#include "show/words/code_text.hpp"
#include "show/words/modelled.hpp"
#include "show/words/setup_text.hpp"
#include "show/words/time_text.hpp"
#include "show/words/tour.hpp"
#include "show/words/value_text.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

TEST_CASE("durations have the unit that fits", "[time text]") {
    CHECK(duration(0) == "0 s");
    CHECK(duration(2.5) == "2.5 s");
    CHECK(duration(1) == "1 s");
    CHECK(duration(7.5e-3) == "7.5 ms");
    CHECK(duration(7.5e-6) == "7.5 µs");
    CHECK(duration(7.5e-9) == "7.5 ns");
}

TEST_CASE("time says where we are in steps and in modelled seconds", "[time text]") {
    WaitingSession session = session_of("flash_v2", toy);
    CHECK(step_text(session, 2) == "operation 2 of 52");
    // The launch takes one step, and its thread blocks share the time of the other 51 evenly.
    const double whole = session.run()->counted().time->us(), begin = session.run()->gantt().launches()[0].begin;
    CHECK(modelled_times(session, 0).front() == "0 µs of " + text::microseconds(whole) + " modelled");
    const std::string quarter = text::microseconds(begin + (whole - begin) * 17 / 51);
    CHECK(modelled_times(session, 18) == std::vector{quarter + " of " + text::microseconds(whole) + " modelled",
                                                     quarter + " modelled", "~" + quarter});
    CHECK(about_modelled_time(session) == about_time(*session.run(), false));
    CHECK(about_modelled_time(Session()).empty());
    CHECK(step_text(Session(), 0) == "nothing to play");
    CHECK(modelled_times(session, 18, false).front() == quarter + " modelled");
    CHECK(modelled_times(session, session.length(), false) == modelled_times(session, session.length()));
    CHECK(modelled_times(Session(), 0) == std::vector{std::string()});
    CHECK(speed_text(session, 0.5) == "0.5 operations/s");
    CHECK(speed_text(session, 2000) == "2,000 operations/s");
    WaitingSession in_time = session_of("flash_v2", toy, "", Pace::time);
    CHECK(speed_text(in_time, 52) == duration(whole * 1e-6) + "/s");
    CHECK(speed_text(Session(), 4) == "4 operations/s");
    CHECK(about_position(session, 2, 3) ==
          "operation 2 of 52\nloads 256 B, stores 0 B here\n256 B of SM traffic so far\n \nAbove the middle: loads. "
          "Below: stores. Ticks: SM 3 takes a thread block.");
    CHECK(about_tick(*session.run(), 50) ==
          "tick 50 of 52\nSM read: 0 B\nSM written: 256 B\nSM traffic is what crosses an SM's boundary: the L2 catches "
          "part of "
          "it.\nClick to go there.");
    CHECK(traffic_title(256, {}) == "SM ↑ read ↓ written, up to 256 B a tick");
    CHECK(traffic_title(256, 2000) == "SM ↑ read ↓ written, up to 256 B and 2.00 kB a tick");
}

TEST_CASE("in a race both times are said, the first run's first", "[time text]") {
    WaitingSession session = session_of("flash_v1", half, "flash_v2", Pace::bytes);
    const auto [own, other] = session.ticks_at(900);
    CHECK(modelled_times(session, 900).front() ==
          text::microseconds(session.run()->seconds_for_all(own) * 1e6) + " of " +
              text::microseconds(session.run()->counted().time->us()) + " and " +
              text::microseconds(session.rival()->seconds_for_all(other) * 1e6) + " of " +
              text::microseconds(session.rival()->counted().time->us()) + " modelled");
    CHECK(session.run()->seconds(own) != session.rival()->seconds(other));
    // Positions of a race are moments, not operations of either run; another pace has others.
    CHECK(step_text(session, 900) == "moment 900 of " + text::grouped(session.length()));
    CHECK(speed_text(session, 4) == "4 moments/s");
    CHECK(about_modelled_time(session) ==
          "flash_v1: " + about_time(*session.run(), true) + "\nflash_v2: " + about_time(*session.rival(), true));
}

TEST_CASE("values have three digits, and signs for what is no number", "[value text]") {
    CHECK(value_text(0.31415f) == "0.314");
    CHECK(value_text(INFINITY) == "∞");
    CHECK(value_text(-INFINITY) == "−∞");
    CHECK(value_text(NAN) == "NaN");
    CHECK(error_text(0.25) == "RMS 0.25");
    CHECK(error_text(INFINITY) == "RMS not finite");
}

TEST_CASE("values say whose and what they are", "[value text]") {
    WaitingSession session = session_of("flash_v2", toy);
    Run& run = *session.run();
    const auto done = [&](Index tick) {
        run.seek(tick);
        return operation_text(run, run.moment().sms[0].steps.back());
    };
    CHECK(why_no_block(run).find("Nothing has run yet") == 0);
    CHECK(done(4) == "K ← K in HBM, rows 0–3");
    CHECK(done(6) == "S ← matmul(Q, Kᵀ)");
    CHECK(done(50) == "O → O in HBM, rows 0–3");
    CHECK(sm_and_block(run.moment().sms[2]) == "SM 2 · block 2");
    CHECK(sm_and_block(SmState{}) == "SM 0");
    CHECK(error_title(run) == "Error of O against the reference");
    CHECK(why_no_error(run) == "nothing added to O in this thread block so far");
    CHECK(stored_text(run, {0, 0, 16}) == "O in HBM: 0 of 16 rows finished");
    CHECK(stored_text(run, {0.125, 8, 16}) == "O in HBM: 8 of 16 rows finished, RMS error 0.125");
    const RecordedTile& q = run.trace().tiles()[run.moment().sms[0].tiles.front().tile];
    CHECK(about_values(q, "", {}, {{1, 2}, {3, 1}, 0.5f}) ==
          "Q (4 × 4 f32 in SRAM)\nrows 1–2, column 3\n0.5  average of 2 values (−∞ left out)");
    CHECK(about_values(q, "before", {0, 0, {8, 4}, {0, 4}}, {{1, 1}, {3, 1}, 0.5f}) ==
          "Q, before (4 × 4 f32 in SRAM)\nrow 9 (1 of the tile), column 3\n0.5");
}

TEST_CASE("lines say what they have cost so far, and in the end", "[code text]") {
    WaitingSession session = session_of("flash_v2", toy);
    Run& run = *session.run();
    run.seek(14);  // one load each of K and V
    CHECK(line_cost(run, 7).hbm == "512 B");
    CHECK(line_cost(run, 7).flops.empty());
    CHECK(line_cost(run, 8).hbm.empty());
    CHECK(line_cost(run, 8).flops == "512");
    CHECK(line_cost(run, 14).hbm == "0 B");
    CHECK_FALSE(line_cost(run, 14).has_hbm);
    using Rows = std::vector<std::array<std::string, 3>>;
    CHECK(line_costs(run, 7) ==
          Rows{{"", "so far", "whole run"}, {"visits", "", "16"}, {"SM read", "512 B", "2.05 kB"}});
    CHECK(line_costs(run, 1).empty());
    CHECK(about_breakpoint(3, 0, false) == "Click: playing stops when SM 3 gets here.");
    CHECK(about_breakpoint(3, 2, true) == "2 other SMs are on this line.\nClick: playing no longer stops here.");
    CHECK(why_no_next_visit(run, 0, 7, true) == "SM 0 does not visit line 7 again: back to the first time.");
    CHECK(why_no_next_visit(run, 0, 7, false) == "SM 0 never visits line 7 in what is shown.");
    CHECK(why_no_next_visit(run, 0, 1, false) == "Nothing moves and nothing is computed on line 1.");
}

TEST_CASE("long lines of code go on below, after a statement where they can", "[code text]") {
    const std::string code = "    m = max(m_old, rowmax(S)), P~ = exp(S - m), l = exp(m_old - m) l";
    using Parts = std::vector<std::string_view>;
    CHECK(code_parts(code, 100, 100) == Parts{code.substr(4)});
    CHECK(code_parts(code, 50, 50) == Parts{"m = max(m_old, rowmax(S)), P~ = exp(S - m),", "l = exp(m_old - m) l"});
    CHECK(code_parts(code, 40, 40) == Parts{"m = max(m_old, rowmax(S)),", "P~ = exp(S - m),", "l = exp(m_old - m) l"});
    CHECK(code_parts("  ", 40, 40).empty());
    CHECK(indent_of(code) == 4);
    for (std::size_t room = 14; room < 60; ++room)
        for (const std::string_view part : code_parts(code, room, room)) CHECK(part.size() <= room - 4);
}

TEST_CASE("of code the current line is whole, and those around it where they are", "[code text]") {
    const auto shown = [](std::vector<std::size_t> heights, std::ptrdiff_t now, std::size_t rows) {
        const CodeExcerpt e = code_excerpt(heights, now, rows);
        return std::pair(e.first, e.end);
    };
    using Lines = std::pair<std::size_t, std::size_t>;
    CHECK(shown({1, 1, 1, 1, 1}, 2, 3) == Lines(1, 4));
    CHECK(shown({1, 1, 1, 1, 1}, 0, 3) == Lines(0, 3));
    CHECK(shown({1, 1, 1, 1, 1}, 4, 3) == Lines(2, 5));
    CHECK(shown({1, 1, 3, 1, 1}, 2, 3) == Lines(2, 3));
    CHECK(shown({1, 1, 3, 1, 1}, 2, 4) == Lines(1, 3));
    CHECK(shown({1, 3, 1, 1, 1}, 2, 3) == Lines(2, 5));  // no line is shown in part
    CHECK(shown({1, 1, 9, 1, 1}, 2, 3) == Lines(2, 3));
    CHECK(shown({2, 1, 1, 1, 1}, -1, 4) == Lines(0, 3));
    CHECK(shown({}, -1, 3) == Lines(0, 0));
}

TEST_CASE("setups say their tiles, and what does not fit", "[setup text]") {
    WaitingSession session = session_of("flash_v2", half);
    Options options = session.setup().options;
    options.bc = "auto";
    CHECK(tiling_text(options, {64, 128}, session.request()->problem) == "64 × 128 (auto): 8 × 4 tiles");
    CHECK(machine_text(session.request()->gpu) == "A thread block has 227 KiB of SRAM and 256 KiB of registers.");
    session.set("seq", "1024");
    session.set("bc", "1024");
    REQUIRE(session.overflow());
    const Overflow& o = *session.overflow();
    CHECK(overflow_title(o) == "flash_v2 with Br × Bc = 64 × 1024 does not fit in SRAM");
    Overflow open = o;
    open.given = {64, 0};
    CHECK(overflow_title(open) == "flash_v2 with Br = 64 does not fit in SRAM, not even with Bc = 1024");
    open.given = {};
    CHECK(overflow_title(open) == "flash_v2 does not fit in SRAM, not even with Br × Bc = 64 × 1024");
    CHECK(capacity_text(o.error) == "one thread block has 227 KiB");
    CHECK(need_text(o.error) == "needs 264 KiB: 37.0 KiB too much");
    CHECK(about_tile(o.error.wanted) == "V  1024 × 64 f16  128 KiB");
    CHECK(fix_text({64, 512}) == "Use Br × Bc = 64 × 512");
    CHECK(what_happens_now(session, nullptr) == "Nothing runs: the tiles of flash_v2 do not fit on chip.");
    session.set("bc", "0");
    CHECK(what_happens_now(session, nullptr) == "Nothing runs. " + session.problem());
}

TEST_CASE("rules for tiles name their sources, and orders say what they do", "[setup text]") {
    WaitingSession session = session_of("flash_v2", {{"dim", "128"}});
    const Algorithm& a = session.algorithm();
    CHECK(tile_rule_text(session.request(), a) ==
          "Where Br and Bc come from that are auto. As released kernels have them: 128 × 64, as in FlashAttention-2's "
          "released kernel (flash_fwd_launch_template.h). Halved where they do not fit on chip.");
    CHECK(tile_rule_text(nullptr, a) == "Where Br and Bc come from that are auto.");
    std::set<std::string> said;
    for (const TileRule rule : tile_rules) said.insert(about_rule(rule));
    for (const Order order : orders) said.insert(about_order(order));
    CHECK(said.size() == std::size(tile_rules) + std::size(orders));
    CHECK(about_parts(false).ends_with("the rule below."));
    CHECK(about_parts(true).ends_with("the algorithm, which has a rule of its own."));
}

TEST_CASE("what is in the making says how far it is", "[setup text]") {
    CHECK(making_text({0, 1}) == "counting");
    CHECK(making_text({1, 3}) == "recording 25%");
    CHECK(making_text({7, 0}) == "recording 100%");
}

TEST_CASE("the tour goes round all panels once", "[tour]") {
    std::set<std::string> panels;
    for (const TourStop& stop : tour_stops()) {
        panels.insert(stop.panel);
        CHECK(stop.text.ends_with('.'));
    }
    CHECK(panels == std::set<std::string>{"memory", "transport", "code", "detail", "controls"});
    CHECK(tour_stops().size() == 5);
}

TEST_CASE("what became of the numbers of files is told", "[words]") {
    const Folder folder;
    Setup asked;
    asked.algorithm = "flash_v2";
    const auto write = [&](const char* name, float first) {
        write_npy(folder / name, std::vector<Index>{4, 2}, Dtype::f32, std::vector<float>{first, 0, 0, 0, 0, 0, 0, 0});
        return folder / name;
    };
    asked.options.q = write("q.npy", 1), asked.options.k = write("k.npy", 1), asked.options.v = write("v.npy", 1e6f);
    WaitingSession session;
    session.ask(asked);
    CHECK(about_files_text(session).empty());
    session.set("dtype", "f16");
    CHECK(about_files_text(session) == "--v " + asked.options.v +
                                           ": 1 of 8 elements became infinite in f16, which ends at 65504; --dtype f32 "
                                           "keeps them");
    CHECK(about_files_text(Session()).empty());
}
