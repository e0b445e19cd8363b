// What happens for the first time, compared with the numbers, the mask and the schedule.
#include "show/stage/firsts.hpp"

#include <algorithm>
#include <cmath>

#include "show/stage/row.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

std::optional<First> first(const std::vector<First>& firsts, const std::string& begin) {
    for (const First& f : firsts)
        if (f.what.rfind(begin, 0) == 0) return f;
    return std::nullopt;
}

/// The tick of the first visit in which the maximum of any row rises, by what the rows' stories tell.
Index first_risen(const Run& run) {
    Index tick = run.ticks() + 1;
    for (Index query = 0; query < run.recorded().seq_q; ++query) {
        const RowStory story(run, 0, query);
        for (const RowVisit& v : story.visits()) {
            const RowMoment m = story.at(v.to);
            if (v.keys.size > 0 && m.has_m && std::isfinite(m.m_was) && m.m > m.m_was) tick = std::min(tick, v.to);
        }
    }
    return tick;
}

}  // namespace

TEST_CASE("the first rescaling comes within the first visit in which a maximum rises", "[firsts]") {
    for (const char* algorithm : {"flash_v2", "memory_efficient"}) {
        WaitingSession session = session_of(algorithm, toy);
        const Run& run = *session.run();
        const auto rescaled = first(firsts_of(run, nullptr), "First rescaling");
        REQUIRE(rescaled);
        const Index risen = first_risen(run);
        INFO(algorithm << ": " << rescaled->what);
        CHECK(rescaled->what.starts_with("First rescaling: α = 0."));
        CHECK(rescaled->tick <= risen);
        CHECK(rescaled->tick > risen - 12);
    }
    // Where all scores are alike, no maximum rises.
    WaitingSession alike = session_of("flash_v2", with(toy, {{"scale", "1e-30"}}));
    CHECK_FALSE(first(firsts_of(*alike.run(), nullptr), "First rescaling"));
    WaitingSession standard = session_of("standard", toy);
    CHECK_FALSE(first(firsts_of(*standard.run(), nullptr), "First rescaling"));
}

TEST_CASE("the first skip is where a thread block goes past a hidden tile", "[firsts]") {
    const Flags causal = with(toy, {{"causal", "true"}});
    WaitingSession second = session_of("flash_v2", causal);
    const Wall rows(*second.run(), 0);
    const auto skip = first(firsts_of(*second.run(), &rows), "First tile skipped");
    REQUIRE(skip);
    CHECK(skip->what == "First tile skipped: in (1, 2) no query sees a key");
    CHECK(skip->tick == rows.visits()[rows.visits(0, 0).back()].to);

    WaitingSession one = session_of("flash_v1", causal);
    const Wall cols(*one.run(), 0);
    const auto column = first(firsts_of(*one.run(), &cols), "First tile skipped");
    REQUIRE(column);
    // The first column has all rows; the second begins below (1, 2).
    CHECK(column->tick >= cols.visits()[cols.visits(3, 0).back()].to);
    CHECK(column->tick <= cols.visits()[cols.visits(1, 1).front()].from);

    WaitingSession full = session_of("flash_v2", toy);
    const Wall wall(*full.run(), 0);
    CHECK_FALSE(first(firsts_of(*full.run(), &wall), "First tile skipped"));
}

TEST_CASE("the first wave is over when an SM takes its second thread block", "[firsts]") {
    const Flags eight = {{"gpu", "toy"}, {"seq", "16"}, {"dim", "4"}, {"heads", "2"}, {"br", "4"}, {"bc", "4"}};
    WaitingSession session = session_of("flash_v2", eight);
    const Run& run = *session.run();
    const auto wave = first(firsts_of(run, nullptr), "First wave over");
    REQUIRE(wave);
    for (Index sm = 0; sm < run.schedule().sms_used(); ++sm)
        for (Index t = 1; t <= wave->tick; ++t)
            if (const Placement* p = run.schedule().at(sm, t)) CHECK(p->block < 4);
    CHECK(run.schedule().placement_of(0, 4)->first_tick == wave->tick);
    WaitingSession one = session_of("flash_v2", toy);
    CHECK_FALSE(first(firsts_of(*one.run(), nullptr), "First wave over"));
}

TEST_CASE("firsts come in order of time, and again when there is another run", "[firsts]") {
    const Flags eight = {{"gpu", "toy"}, {"seq", "16"}, {"dim", "4"},      {"heads", "2"},
                         {"br", "4"},    {"bc", "4"},   {"causal", "true"}};
    WaitingSession session = session_of("flash_v2", eight);
    Walls walls;
    Firsts firsts;
    const std::vector<First> found = firsts.of(*session.run(), walls, session.version());
    REQUIRE(found.size() == 3);
    CHECK(std::is_sorted(found.begin(), found.end(), [](auto& a, auto& b) { return a.tick < b.tick; }));
    session.ask(setup("flash_v2", toy, ""));
    CHECK(firsts.of(*session.run(), walls, session.version()).size() == 1);
}
