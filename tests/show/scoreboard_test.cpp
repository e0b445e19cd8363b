#include "show/stage/scoreboard.hpp"

#include "core/text/numbers.hpp"
#include "lab/report/metric.hpp"
#include "show/words/tables.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;
using namespace Catch::Matchers;
using Catch::Matchers::WithinRel;

namespace {

const Flags few_tiles = {{"seq", "256"}, {"heads", "2"}, {"br", "64"}, {"bc", "64"}};

double dram_of(const Run& run) {
    const auto dram = run.counted().dram();
    return static_cast<double>(dram->read + dram->written);
}

}  // namespace

TEST_CASE("scores begin with nothing, grow, and end with what the whole runs need", "[scoreboard]") {
    for (const Pace pace : {Pace::step, Pace::bytes, Pace::time}) {
        WaitingSession s = session_of("standard", few_tiles, "flash_v2", pace);
        Score before[2];
        for (Index p = 0; p <= s.length(); ++p) {
            s.show(p);
            const Run* runs[] = {s.run(), s.rival()};
            for (int k = 0; k < 2; ++k) {
                const Score now = score_of(s, *runs[k]);
                if (p == 0) CHECK((now.seconds == 0 && now.sm_bytes == 0 && now.dram_bytes == 0.0 && now.done == 0));
                CHECK(now.seconds >= before[k].seconds);
                CHECK(now.sm_bytes >= before[k].sm_bytes);
                CHECK(*now.dram_bytes >= before[k].dram_bytes.value_or(0));
                CHECK(now.operations >= before[k].operations);
                before[k] = now;
                if (p < s.length()) continue;
                const Report& whole = runs[k]->counted();
                CHECK_THAT(now.seconds * 1e6, WithinRel(whole.time->us(), 1e-9));
                CHECK_THAT(now.sm_bytes, WithinRel(static_cast<double>(whole.counters.hbm()), 1e-9));
                CHECK_THAT(*now.dram_bytes, WithinRel(dram_of(*runs[k]), 1e-9));
                CHECK_THAT(now.operations, WithinRel(static_cast<double>(whole.counters.matmul_flops), 1e-9));
                CHECK_THAT(now.done, WithinRel(1, 1e-9));
            }
        }
    }
}

TEST_CASE("backward passes are compared in extra memory, too", "[scoreboard][backward]") {
    WaitingSession s = session_of("standard_backward", few_tiles, "flash_v2_backward");
    s.show(s.length());
    const Scoreboard board = scoreboard(s);
    // With the result hidden, only a run that is done says when it was done.
    const Scoreboard secret = scoreboard(s, false);
    for (std::size_t k = 0; k < 2; ++k) {
        const Run& run = k ? *s.rival() : *s.run();
        CHECK(secret.rows[k].cells[1].size() == (run.tick() == run.ticks() ? 2U : 1U));
    }
    s.show(1);
    for (std::size_t k = 0; k < 2; ++k) CHECK(scoreboard(s, false).rows[k].cells[1].size() == 1);
    REQUIRE(board.rows.size() == 3);
    CHECK(board.titles.cells.back().front() == "extra memory");
    CHECK(board.rows[0].cells.back().front() == text::bytes(s.run()->counted().hbm_extra));
    CHECK(board.rows[1].cells.back().front() == text::bytes(s.rival()->counted().hbm_extra));
    for (const Scoreboard::Row& row : board.rows) CHECK(row.cells.size() == board.titles.cells.size());
    CHECK(s.run()->counted().hbm_extra > s.rival()->counted().hbm_extra);
}

TEST_CASE("the scoreboard has a winner once both are done, by modelled time", "[scoreboard]") {
    for (const auto& [first, second] : {std::pair("standard", "flash_v2"), std::pair("flash_v2", "standard")}) {
        WaitingSession s = session_of(first, few_tiles, second);
        s.show(s.length() - 1);
        CHECK(scoreboard(s).rows.size() == 2);
        s.show(s.length());
        const Scoreboard board = scoreboard(s);
        REQUIRE(board.rows.size() == 3);
        const double a = s.run()->gantt().us(), b = s.rival()->gantt().us();
        CHECK(board.rows[0].won == (a < b));
        CHECK(board.rows[1].won == (b < a));
        CHECK(board.rows[a < b ? 0 : 1].name[0] == "flash_v2 wins");
        const Run &fast = a < b ? *s.run() : *s.rival(), &slow = a < b ? *s.rival() : *s.run();
        CHECK(board.rows[2].name[0] == std::string(slow.algorithm().name) + " : " + fast.algorithm().name);
        CHECK(board.rows[2].cells[1][0] == ratio_text(std::max(a, b), std::min(a, b)) + " the time");
        CHECK(board.rows[2].cells[3][0] == ratio_text(dram_of(slow), dram_of(fast)));
        CHECK(board.rows[0].cells[0][0] == "100%");
        CHECK(board.rows[0].cells[1][0] == text::microseconds(a) + " of " + text::microseconds(a));
        CHECK_THAT(board.remark, StartsWith("Paced by operations: ") && ContainsSubstring("of the whole runs"));
    }
}
