// How far a step goes: to the next operation, line, tile, row or launch.
#include "show/run/strides.hpp"

#include <algorithm>
#include <set>

#include "show/stage/wall.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

const Flags causal_toy = {{"gpu", "toy"}, {"seq", "16"}, {"dim", "4"},      {"heads", "1"},
                          {"br", "4"},    {"bc", "4"},   {"causal", "true"}};

std::vector<Index> stops(const Run& run, Stride stride, Index sm) {
    std::vector<Index> found;
    for (Index t = 0; t < run.ticks();) found.push_back(t = stride_on(run, stride, sm, t));
    return found;
}

/// The ends of thread blocks on an SM, and of launches, computed independently.
std::set<Index> ends_of_blocks(const Run& run, Index sm) {
    std::set<Index> ends = {run.ticks()};
    for (Index t = 1; t <= run.ticks(); ++t) {
        if (run.trace()[run.schedule().steps_after(t - 1)].kind() == Kind::launch) ends.insert(t);
        const Placement *now = run.schedule().at(sm, t),
                        *next = t < run.ticks() ? run.schedule().at(sm, t + 1) : nullptr;
        if (now && now != next) ends.insert(t);
    }
    return ends;
}

std::set<Index> as_set(const std::vector<Index>& v) { return {v.begin(), v.end()}; }

}  // namespace

TEST_CASE("steps back stop where steps on stop", "[strides]") {
    for (const char* algorithm : {"flash_v1", "flash_v2", "standard", "memory_efficient", "three_pass"}) {
        WaitingSession session = session_of(algorithm, toy);
        const Run& run = *session.run();
        for (const Stride stride : {Stride::operation, Stride::line, Stride::tile, Stride::row, Stride::launch})
            for (const Index sm : {Index{0}, Index{1}}) {
                INFO(algorithm << ", stride " << static_cast<int>(stride) << ", SM " << sm);
                std::vector<Index> on = stops(run, stride, sm), back;
                REQUIRE(std::is_sorted(on.begin(), on.end()));
                REQUIRE(std::adjacent_find(on.begin(), on.end()) == on.end());
                for (Index t = run.ticks(); t > 0;) back.push_back(t = stride_back(run, stride, sm, t));
                on.insert(on.begin(), 0), on.pop_back();
                std::reverse(back.begin(), back.end());
                // Where the SM is idle at the end, its last stop lies before the end.
                if (back.size() > on.size()) on.push_back(back.back());
                CHECK(back == on);
            }
    }
}

TEST_CASE("a step by operation is a tick in which the SM does something", "[strides]") {
    WaitingSession session = session_of("flash_v2", toy);
    std::vector<Index> every;
    for (Index t = 1; t <= session.run()->ticks(); ++t) every.push_back(t);
    CHECK(stops(*session.run(), Stride::operation, 0) == every);
}

TEST_CASE("a step by line ends where another line begins", "[strides]") {
    WaitingSession session = session_of("flash_v2", toy);
    Run& run = *session.run();
    std::uint16_t before = 0;
    std::set<std::uint16_t> seen;
    for (const Index t : stops(run, Stride::line, 0)) {
        run.seek(t);
        const std::uint16_t line = run.moment().sms[0].line;
        seen.insert(line);
        if (t == run.ticks()) break;
        run.seek(t + 1);
        const auto& steps = run.moment().sms[0].steps;
        CHECK(std::any_of(steps.begin(), steps.end(), [&](Index k) { return run.trace()[k].enters_line; }));
        before = line;
    }
    CHECK(before > 0);
    CHECK(seen.size() >= 5);
}

TEST_CASE("a step by tile ends with what an SM has to do with a tile of scores", "[strides]") {
    for (const char* algorithm : {"flash_v1", "flash_v2", "memory_efficient"}) {
        WaitingSession session = session_of(algorithm, causal_toy);
        const Run& run = *session.run();
        const Wall wall(run, 0);
        for (Index sm = 0; sm < run.schedule().sms_used(); ++sm) {
            INFO(algorithm << " SM " << sm);
            const std::set<Index> all = as_set(stops(run, Stride::tile, sm));
            Index tiles = 0;
            for (const Visit& v : wall.visits()) {
                if (v.loop < 0 || run.schedule().placement_of(v.launch, v.block)->sm != sm) continue;
                ++tiles;
                CHECK(all.count(v.to) == 1);
            }
            CHECK(tiles > 0);
            // Besides tiles there are the launch, what each thread block does before and after its loop, and
            // FlashAttention-1's loads of K and V.
            CHECK(static_cast<Index>(all.size()) > tiles);
            CHECK(static_cast<Index>(all.size()) <= 3 * tiles + 8);
        }
    }
}

TEST_CASE("a step by row is a thread block of FA-2, and a column of tiles in FA-1", "[strides]") {
    WaitingSession second = session_of("flash_v2", causal_toy);
    CHECK(as_set(stops(*second.run(), Stride::row, 1)) == ends_of_blocks(*second.run(), 1));

    WaitingSession first = session_of("flash_v1", causal_toy);
    const Run& run = *first.run();
    const Wall wall(run, 0);
    std::map<Index, Index> last_of_column;
    for (const Visit& v : wall.visits()) last_of_column[v.cols.begin] = std::max(last_of_column[v.cols.begin], v.to);
    const std::set<Index> all = as_set(stops(run, Stride::row, 0));
    REQUIRE(last_of_column.size() == 4);
    for (const auto& [column, tick] : last_of_column) CHECK(all.count(tick) == 1);
    CHECK(all.size() < 4 + 6);
}

TEST_CASE("a step by launch ends where all of its thread blocks have ended", "[strides]") {
    WaitingSession session = session_of("standard", toy);
    const Run& run = *session.run();
    std::vector<Index> expected;
    for (Index t = 2; t <= run.ticks(); ++t)
        if (run.trace()[run.schedule().steps_after(t - 1)].kind() == Kind::launch) expected.push_back(t - 1);
    expected.push_back(run.ticks());
    REQUIRE(expected.size() == 3);
    for (const Index sm : {Index{0}, Index{3}}) CHECK(stops(run, Stride::launch, sm) == expected);
}
