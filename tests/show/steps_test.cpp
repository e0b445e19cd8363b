// A run told step by step: which steps, and what about each.
#include "show/words/steps.hpp"

#include <cmath>

#include "show/stage/blackboard.hpp"
#include "show/words/value_text.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

const SmState& at(Session& session, Index step, Index sm) {
    session.run()->seek(step);
    return session.run()->moment().sms[static_cast<std::size_t>(sm)];
}

RecordedTile tile(Index rows, Index cols) { return {"t", rows, cols, Dtype::f32, Space::sram, 0, 0, 0}; }

using Cells = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("the steps of an SM are those in which it does something", "[steps]") {
    Session session = session_of("standard", toy);
    const Run& run = *session.run();
    for (Index sm = 0; sm < 4; ++sm) {
        std::vector<Index> expected = {0};
        for (Index step = 1; step <= run.ticks(); ++step) {
            const bool launch = run.trace()[run.schedule().steps_after(step - 1)].kind() == Kind::launch;
            if (launch || !at(session, step, sm).steps.empty()) expected.push_back(step);
        }
        CHECK(steps_of(run, {.sm = sm}) == expected);
        // The softmax has one thread block, for which the other SMs wait.
        CHECK((static_cast<Index>(expected.size()) == run.ticks() + 1) == (sm == 0));
    }
}

TEST_CASE("steps can be chosen by launch, thread block, line and number", "[steps]") {
    Session session = session_of("standard", toy);
    const Run& run = *session.run();
    const auto every = [&](const StepsWanted& w, auto&& holds) {
        const std::vector<Index> chosen = steps_of(run, w);
        CHECK(!chosen.empty());
        Index expected = 0;
        for (const Index step : steps_of(run, {.sm = w.sm})) expected += step > 0 && holds(at(session, step, w.sm));
        CHECK(static_cast<Index>(chosen.size()) == expected);
        for (const Index step : chosen) CHECK(holds(at(session, step, w.sm)));
    };
    every({.sm = 1, .launch = 2}, [&](const SmState&) { return run.moment().launch == 2; });
    every({.sm = 1, .launch = 0, .block = 5}, [](const SmState& s) { return s.block && s.block->block == 5; });
    every({.sm = 0, .line = 7}, [](const SmState& s) { return s.block && s.line == 7; });
    CHECK(steps_of(run, {.sm = 0, .from = 20, .to = 23}) == std::vector<Index>{20, 21, 22, 23});
    CHECK(steps_of(run, {.sm = 0, .line = 1}).empty());

    REQUIRE(run.schedule().placement_of(2, 3));
    CHECK(run.schedule().placement_of(2, 3)->sm == 3);
    CHECK(!run.schedule().placement_of(2, 4));
    CHECK(!run.schedule().placement_of(3, 0));
}

TEST_CASE("a step knows its turn of every loop around it", "[steps]") {
    Session session = session_of("flash_v2", toy);
    CHECK(loop_position(*session.run(), at(session, 1, 2)).empty());
    CHECK(loop_position(*session.run(), at(session, 2, 2)) == "head 1 of 1, i = 3 of 4");
    CHECK(loop_position(*session.run(), at(session, 24, 2)) == "head 1 of 1, i = 3 of 4, j = 2 of 4");
    CHECK(loop_position(*session.run(), at(session, 50, 2)) == "head 1 of 1, i = 3 of 4");
    // A mask leaves fewer turns than there are tiles: here of K for the second row block, and of Q for the last key
    // block.
    auto causal = toy;
    causal.push_back({"causal", "true"});
    Session masked = session_of("flash_v2", causal);
    CHECK(loop_position(*masked.run(), at(masked, 13, 1)) == "head 1 of 1, i = 2 of 4, j = 1 of 4 (turn 1 of 2)");
    Session columns = session_of("flash_v1", causal);
    const Index last = columns.run()->ticks() - 4;
    CHECK(loop_position(*columns.run(), at(columns, last, 0)) == "head 1 of 1, j = 4 of 4, i = 4 of 4 (turn 1 of 1)");
    // Positions count all heads, also where few are recorded.
    Session some = session_of("flash_v1", half);
    REQUIRE(some.run()->recorded().batch_heads() == 4);
    CHECK(loop_position(*some.run(), at(some, some.run()->ticks() - 5, 3)) == "head 4 of 8, j = 8 of 8, i = 8 of 8");
}

TEST_CASE("what is told of a step is what the window says", "[steps]") {
    Session session = session_of("flash_v2", toy);
    const StepText s = step_text(*session.run(), at(session, 24, 0));
    CHECK(s.step == 24);
    CHECK(s.line == 10);
    CHECK(s.where == "block 0 · line 10 · head 1 of 1, i = 1 of 4, j = 2 of 4");
    CHECK(s.code == "O_i = exp(m_old - m_i) O_i + P~ V_j");
    CHECK(s.formula == "O ← α · O");
    CHECK(s.happening == "SM 0 multiplies each row of O (4 × 4) by its α: 16 multiplications.");
    CHECK(s.why == "The un-scaled output is rescaled with it; the division waits until the end.");
    // Each of four SMs has loaded a tile of Q and two of K and V, 64 B each.
    CHECK(traffic_so_far(*session.run()) == "SM traffic so far, of all SMs: 1.28 kB read, 0 B written; 2.27 k FLOPs");
    REQUIRE(tile_written(*session.run(), at(session, 24, 0)));
    CHECK(session.run()->trace().tiles()[tile_written(*session.run(), at(session, 24, 0))->tile].name == "O");

    const StepText first = step_text(*session.run(), at(session, 0, 0));
    CHECK(first.where.empty());
    CHECK(first.code.empty());
    CHECK(first.happening == "Nothing has run yet: Q, K and V are in HBM.");
    CHECK(!tile_written(*session.run(), at(session, 1, 0)));
}

TEST_CASE("numbers of a tile: all of a small one, a corner of a large one", "[steps]") {
    const std::vector<float> little = {0.25f, -1.8125f, -INFINITY, 2};
    CHECK(value_cells(tile(2, 2), little, 4, 4) == Cells{{"0.25", "-1.81"}, {"−∞", "2.00"}});
    std::vector<float> large(25);
    for (std::size_t k = 0; k < large.size(); ++k) large[k] = static_cast<float>(k);
    CHECK(value_cells(tile(5, 5), large, 3, 3) == Cells{{"0.0", "1.0", "…"}, {"5.0", "6.0", "…"}, {"…"}});
    CHECK(value_cells(tile(1, 25), large, 3, 3) == Cells{{"0.0", "1.0", "…"}});
    // Decimals give three digits of the largest value; powers of ten are used where decimals read badly.
    CHECK(value_cells(tile(1, 2), std::vector<float>{123.4f, 1}, 4, 4) == Cells{{"123", "1"}});
    CHECK(value_cells(tile(1, 2), std::vector<float>{0.0512f, -0.00001f}, 4, 4) == Cells{{"0.0512", "0.0000"}});
    CHECK(value_cells(tile(1, 2), std::vector<float>{1.5e-7f, 0}, 4, 4) == Cells{{"1.5e-07", "0"}});

    CHECK(range_text(little) == "from -1.81 to 2, 1 × −∞");
    CHECK(range_text(std::vector<float>{3, 3}) == "3");
    CHECK(range_text(std::vector<float>{NAN, INFINITY, INFINITY}) == "2 × ∞, 1 × NaN");
}

TEST_CASE("the blackboard has a row for each step and a column for each tile that grows", "[steps]") {
    Session session = session_of("flash_v2", toy);
    Run& run = *session.run();
    const Blackboard b = blackboard(run, 0, {1, 3, 12, 14, 48}, 200);
    CHECK(b.header == std::vector<std::string>{"op", "line", "formula", "l", "m", "O"});
    REQUIRE(b.rows.size() == 5);
    CHECK(b.rows[0] == std::vector<std::string>{"1", "", "launch flash_v2", "", "", ""});
    CHECK(b.rows[1] == std::vector<std::string>{"3", "5", "make O, l, m", "0.00", "−∞", "0.00 0.00 0.00 0.00"});
    CHECK(b.rows[2] == std::vector<std::string>{"12", "9", "l += rowsum P~", "2.57", "", ""});
    CHECK(b.rows[3] == std::vector<std::string>{"14", "10", "O += P~ V", "", "", "-0.90 -2.53 1.15 -1.36"});
    CHECK(b.left_out.empty());
    // In little room numbers are left out first, then tiles; the output stays.
    const Blackboard narrow = blackboard(run, 0, {1, 3, 12, 14, 48}, 53);
    CHECK(narrow.rows[3].back() == "-0.90 -2.53 …");
    const Blackboard least = blackboard(run, 0, {1, 3, 12, 14, 48}, 1);
    CHECK(least.header == std::vector<std::string>{"op", "line", "formula", "O"});
    CHECK(least.left_out == std::vector<std::string>{"l", "m"});
    CHECK(run.tick() == 48);
}

TEST_CASE("without values the blackboard has what was moved and computed", "[steps]") {
    Session session = session_of("flash_v2", {{"seq", "16384"}, {"heads", "1"}, {"br", "64"}, {"bc", "64"}});
    REQUIRE(!session.run()->has_values());
    const Blackboard b = blackboard(*session.run(), 0, {1, 2}, 100);
    CHECK(b.header == std::vector<std::string>{"op", "line", "formula", "read", "written", "FLOPs"});
    // 100,000 events hold so many thread blocks that 22 SMs load a tile of 64 x 64 f16.
    CHECK(b.rows[1] == std::vector<std::string>{"2", "4", "load Q ↑", "180 kB", "0 B", "0"});
}
