// Sessions of two runs: how a race is aligned, what both record, and what is counted of other algorithms.
#include <algorithm>
#include <cmath>

#include "tests/support/harness.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;
using tilescope::testing::difference;

TEST_CASE("a rival that does not fit is said to be the one", "[session]") {
    // Algorithms need different amounts of SRAM, so that one may fit where its rival does not.
    for (const Algorithm& a : algorithms())
        for (const Algorithm& b : algorithms()) {
            if (a.computes != &computation::attention || b.computes != &computation::attention) continue;
            const Setup asked = setup(a.name, {{"br", "192"}, {"bc", "192"}, {"heads", "1"}, {"seq", "192"}}, b.name);
            const Request r = resolve(asked.options, a);
            const bool first = fits(a, r.problem, r.wish.tiling, r.gpu),
                       second = fits(b, r.problem, r.wish.tiling, r.gpu);
            if (first == second) continue;
            INFO(a.name << " against " << b.name);
            WaitingSession s;
            s.ask(asked);
            check_nothing_runs(s);
            REQUIRE(s.overflow());
            CHECK(s.overflow()->algorithm == (first ? b : a).name);
        }
}

TEST_CASE("a race lines up two runs by steps, bytes and time", "[session][threads]") {
    const std::pair<const char*, const char*> pairs[] = {
        {"standard", "flash_v2"},        {"flash_v2", "standard"},           {"flash_v1", "flash_v2"},
        {"chunked", "memory_efficient"}, {"softmax_safe", "softmax_online"}, {"flash_v2", "flash_v2"}};
    for (const auto& [a, b] : pairs) {
        INFO(a << " against " << b);
        Setup asked = small_setup(*find_algorithm(a));
        asked.rival = b;
        WaitingSession s;
        s.ask(asked);
        REQUIRE(s.run() != nullptr);
        REQUIRE(s.rival() != nullptr);
        CHECK(s.rival()->algorithm().name == std::string(b));
        CHECK((s.run()->experiment().problem == s.rival()->experiment().problem));
        CHECK((s.run()->recorded() == s.rival()->recorded()));
        for (const Pace pace : {Pace::step, Pace::bytes, Pace::time}) {
            INFO("by " << name_of(pace));
            asked.pace = pace;
            s.ask(asked);
            CHECK(wrong_race(s, pace) == "");
            for (Index tick = 0; tick <= s.run()->ticks(); ++tick) {
                const Index p = s.position_of(tick);
                if (s.ticks_at(p).first != tick || (p > 0 && s.ticks_at(p - 1).first >= tick)) FAIL("tick " << tick);
            }
            CHECK(s.position_of(s.run()->ticks() + 1) == s.length());
            for (const Index p : {s.length(), Index{0}, s.length() / 2, s.length() / 3}) {
                s.show(p);
                CHECK(std::pair(s.run()->tick(), s.rival()->tick()) == s.ticks_at(p));
            }
        }
        if (a == std::string(b))
            for (Index p = 0; p <= s.length(); ++p) CHECK(s.ticks_at(p) == std::pair(p, p));
    }
}

TEST_CASE("both in a race record the same heads", "[session][numbers]") {
    int differed = 0;
    for (std::size_t n = 0; n < algorithms().size(); ++n)
        for (std::size_t m = 0; m < algorithms().size(); ++m) {
            const Algorithm &a = algorithms()[n], &b = algorithms()[m];
            if (a.computes != b.computes || !takes(n, m)) continue;
            Setup asked = setup(a.name, {{"seq", "24"}, {"heads", "8"}, {"br", "4"}, {"bc", "4"}}, b.name);
            if (a.computes == &computation::attention) set_flag(asked.options, "kv-heads", "4");
            for (const RecordingLimits& limits :
                 {RecordingLimits{.events = 2500}, RecordingLimits{.value_bytes = 80'000}}) {
                INFO(a.name << " against " << b.name);
                WaitingSession alone(limits), other(limits), both(limits);
                Setup first = asked, second = asked;
                first.rival = second.rival = "";
                second.algorithm = b.name;
                alone.ask(first);
                other.ask(second);
                both.ask(asked);
                REQUIRE((alone.run() && other.run() && both.run() && both.rival()));
                const Index x = alone.run()->recorded().batch_heads(), y = other.run()->recorded().batch_heads();
                CHECK(both.run()->recorded().batch_heads() == std::min(x, y));
                CHECK(both.rival()->recorded().batch_heads() == std::min(x, y));
                CHECK((both.run()->has_values() || !alone.run()->has_values()));
                differed += x != y;
            }
        }
    CHECK(differed > 10);
}

TEST_CASE("without a rival positions are ticks", "[session]") {
    WaitingSession s;
    s.ask(setup("flash_v2", small));
    CHECK(s.rival() == nullptr);
    CHECK(s.length() == s.run()->ticks());
    for (Index p = 0; p <= s.length(); ++p) {
        CHECK(s.ticks_at(p) == std::pair<Index, Index>(p, 0));
        CHECK(s.position_of(p) == p);
    }
    CHECK(s.position_of(s.length() + 1) == s.length());
    s.show(s.length() + 100);
    CHECK(s.run()->tick() == s.length());
    s.show(-100);
    CHECK(s.run()->tick() == 0);
}

TEST_CASE("paces have names", "[session]") {
    for (const Pace p : {Pace::step, Pace::bytes, Pace::time}) CHECK(pace_from(name_of(p)) == p);
    CHECK_FALSE(pace_from("quick"));
    CHECK_FALSE(pace_from(""));
}

TEST_CASE("what cannot be played whole does not race", "[session]") {
    WaitingSession s = session_of("standard", {{"seq", "16384"}, {"heads", "8"}});
    CHECK_FALSE(s.run()->has_whole_heads());
    Setup asked = s.setup();
    asked.rival = "flash_v2";
    s.ask(asked);
    CHECK(s.problem() ==
          "--race flash_v2: a head of standard is too large to be played whole, and parts would race unequally; try a "
          "shorter --seq, or leave it out and read Counters, which are of whole runs");
    CHECK(s.run() == nullptr);
    s.set("seq", "512");
    CHECK(s.problem().empty());
    REQUIRE(s.rival());
    CHECK(s.rival()->has_whole_heads());
}

TEST_CASE("at the pace of time moves take as long as modelled, at others all the same", "[session]") {
    for (const char* rival : {"", "flash_v1"}) {
        WaitingSession in_time = session_of("flash_v2", toy, rival, Pace::time),
                       in_steps = session_of("flash_v2", toy, rival);
        double all = 0, longest = 0;
        Index which = 0;
        for (Index p = 1; p <= in_time.length(); ++p) {
            const double w = in_time.weight(p);
            REQUIRE(w >= 0);
            all += w;
            if (w > longest) longest = w, which = p;
        }
        CHECK(std::abs(all - static_cast<double>(in_time.length())) < 1e-6 * all);
        // The first step is the launch of the kernel, which takes longer than any other step of the setup `toy`.
        CHECK(which == 1);
        CHECK(std::abs(longest / all -
                       in_time.run()->gantt().launches()[0].begin * 1e-6 /
                           std::max(in_time.run()->seconds(in_time.run()->ticks()),
                                    in_time.rival() ? in_time.rival()->seconds_for_all(in_time.rival()->ticks()) : 0)) <
              1e-6);
        for (Index p = 1; p <= in_steps.length(); ++p) CHECK(in_steps.weight(p) == 1);
    }
}

TEST_CASE("other algorithms are counted on the same problem", "[session]") {
    for (const Algorithm& a : algorithms()) {
        Setup asked = small_setup(a);
        for (const char* tiles : {"as given", "auto"}) {
            if (tiles == std::string("auto")) asked.options.br = asked.options.bc = "auto";
            WaitingSession s;
            s.ask(asked);
            const Request r = resolve(asked.options, a);
            for (const Algorithm& b : algorithms()) {
                INFO(a.name << " and " << b.name << ", tiles " << tiles);
                const Report* counted = s.counted(b.name);
                CHECK((counted != nullptr) == (a.computes == b.computes));
                if (!counted) continue;
                const Tiling tiling = choose_tiling(b, r.problem, r.wish, r.gpu);
                CHECK(difference(counted->counters, count({&b, r.problem, tiling, r.gpu}).counters) == "");
                CHECK((counted->experiment.tiling == tiling));
                CHECK(s.counted(b.name) == counted);  // the first call's report is kept
            }
            CHECK(s.counted("nobody") == nullptr);
            CHECK(s.counted("") == nullptr);
        }
    }
}

TEST_CASE("counts of others go with the problem, and are absent where they do not fit", "[session][threads]") {
    WaitingSession s;
    s.ask(setup("flash_v2", small));
    const Count before = s.counted("standard")->counters.hbm_read;
    s.set("seq", "40");
    CHECK(s.counted("standard")->counters.hbm_read > before);
    for (const Algorithm& a : algorithms()) {
        if (a.computes != &computation::attention) continue;
        s.ask(setup("flash_v2", {{"br", "192"}, {"bc", "192"}, {"seq", "192"}}));
        REQUIRE(s.request() != nullptr);
        const bool fit = fits(a, s.request()->problem, {192, 192}, s.request()->gpu);
        CHECK((s.counted(a.name) != nullptr) == fit);
    }
}
