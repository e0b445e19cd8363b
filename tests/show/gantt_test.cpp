#include "show/run/gantt.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/text/numbers.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "show/words/gantt_text.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;
using Catch::Matchers::WithinRel;

namespace {

Counted of_heads(Index heads) {
    Problem p;
    p.heads = p.kv_heads = heads, p.seq_q = p.seq_k = 2048, p.dim = p.dim_v = 128;
    return count_for_show({find_algorithm("flash_v2"), p, {128, 128}, gpu_preset("H100")});
}

double durations(const GanttLaunch& l) {
    return std::accumulate(l.stays.begin(), l.stays.end(), 0.0,
                           [](double sum, const GanttStay& s) { return sum + s.to - s.from; });
}

}  // namespace

TEST_CASE("every thread block stays once, in a place that is free, until the modelled time is over", "[gantt]") {
    for_all([](const Algorithm& a, const Case& c) {
        const Counted counted = count_for_show(experiment(a, c, gpu_preset("H100")));
        const Gantt& gantt = *counted.gantt;
        REQUIRE(counted.report.time);
        CHECK_THAT(gantt.us(), WithinRel(counted.report.time->us(), 1e-9));
        REQUIRE(gantt.launches().size() == counted.report.launches.size());
        double before = 0;
        for (const GanttLaunch& l : gantt.launches()) {
            INFO(l.time.kernel);
            CHECK(l.from == before);
            CHECK(l.begin > l.from);
            before = l.to;
            REQUIRE(static_cast<Count>(l.stays.size()) == l.time.blocks);
            std::map<std::pair<Index, Index>, double> free_from;
            double last_start = 0, last_end = 0;
            for (Index sm = 0; sm < gantt.sms(); ++sm) {
                CHECK(l.on_sm(sm).empty() == (sm >= l.time.sms));
                for (const GanttStay& s : l.on_sm(sm)) {
                    CHECK(s.sm == sm);
                    CHECK(s.slot < l.slots());
                    CHECK(s.from >= l.begin);
                    CHECK(s.from >= free_from[{s.sm, s.slot}] - 1e-9);
                    free_from[{s.sm, s.slot}] = s.to;
                    CHECK(l.stay_of(s.block) == &s);
                    last_start = std::max(last_start, s.from), last_end = std::max(last_end, s.to);
                }
            }
            CHECK(l.stay_of(l.time.blocks) == nullptr);
            CHECK_THAT(l.last_start, WithinRel(last_start, 1e-9));
            CHECK_THAT(l.to, WithinRel(last_end, 1e-9));
            double held = 0;
            for (const auto& lane : l.companies)
                for (const GanttCompany& company : lane)
                    held += static_cast<double>(company.blocks) * (company.to - company.from);
            CHECK_THAT(held, WithinRel(durations(l), 1e-9));
        }
    });
}

TEST_CASE("the clock says when the recorded thread blocks have come so far in the whole run", "[gantt][numbers]") {
    for_all([](const Algorithm& a, const Case& c) {
        const Index all = c.problem.heads * c.problem.batch;
        for (const Index heads : {all, Index{1}}) {
            const Run run = run_of(experiment(a, c, gpu_preset("H100")), heads);
            CHECK(run.seconds(0) == 0);
            CHECK(run.seconds(1) == Approx(1e-6 * run.gantt().launches()[0].begin));
            for (Index t = 1; t <= run.ticks(); ++t) {
                CHECK(run.seconds(t) >= run.seconds(t - 1));
                CHECK(run.seconds(t) <= run.seconds_for_all(t) * (1 + 1e-12));
            }
            double until = 0;
            const auto last = static_cast<Index>(run.gantt().launches().size()) - 1;
            for (const Placement& p : run.schedule().placements_of(last))
                until = std::max(until, run.gantt().launches().back().stay_of(p.block)->to);
            CHECK_THAT(run.seconds(run.ticks()) * 1e6, WithinRel(until, 1e-9));
            CHECK_THAT(run.seconds_for_all(run.ticks()) * 1e6, WithinRel(run.gantt().us(), 1e-9));
            if (heads == all) CHECK_THAT(until, WithinRel(run.gantt().us(), 1e-9));
        }
    });
}

TEST_CASE("the SMs have the thread blocks that they begin with, as in the recording", "[gantt]") {
    const Counted counted = of_heads(17);
    const GanttLaunch& l = counted.gantt->launches()[0];
    for (Index sm = 0; sm < 132; ++sm) {
        CHECK(l.on_sm(sm)[0].block == sm);
        CHECK(std::ssize(l.on_sm(sm)) == (sm < 8 ? 3 : 2));
    }
}

TEST_CASE("a head more than waves of thread blocks have room for begins another one", "[gantt]") {
    const Counted full = of_heads(16), more = of_heads(17);
    const auto started_after = [](const Gantt& g, double us) {
        const auto& stays = g.launches()[0].stays;
        return std::count_if(stays.begin(), stays.end(), [&](const GanttStay& s) { return s.from > us; });
    };
    const double wave = more.gantt->launches()[0].stays[0].to;
    CHECK(started_after(*more.gantt, wave * 1.5) == 17 * 16 - 2 * 132);
    CHECK(started_after(*full.gantt, wave * 1.5) == 0);
    const std::vector<double> taken = more.gantt->taken(100, more.gantt->us());
    CHECK(taken[50] == Approx(1));
    CHECK(taken[90] == Approx(8 / 132.0));
    // The same times are a smaller part of a longer axis.
    const std::vector<double> longer = more.gantt->taken(100, 2 * more.gantt->us());
    CHECK(longer[25] == Approx(1));
    CHECK(longer[60] == 0);
}

TEST_CASE("launches of too many thread blocks have no stays, and the same time", "[gantt]") {
    const Counted counted = of_heads(Gantt::most_stays / 16 + 1);
    const GanttLaunch& l = counted.gantt->launches()[0];
    CHECK(l.time.blocks > Gantt::most_stays);
    CHECK(l.stays.empty());
    CHECK(l.on_sm(3).empty());
    CHECK(l.at(3, 10).empty());
    CHECK(l.stay_of(0) == nullptr);
    CHECK(counted.gantt->us() == Approx(counted.report.time->us()));
    CHECK(counted.gantt->taken(10, counted.gantt->us())[5] == Approx(l.time.resident / static_cast<double>(l.slots())));
    const Run run(counted, 1, random_for(*counted.experiment().algorithm));
    CHECK(run.seconds(run.ticks()) * 1e6 == Approx(l.begin + (l.to - l.begin) / l.time.waves));
    CHECK(run.seconds_for_all(run.ticks()) * 1e6 == Approx(l.to));
}

TEST_CASE("what is said of a timeline is what is in it", "[gantt]") {
    const Flags flags = {{"seq", "2048"}, {"dim", "128"}, {"br", "128"}, {"bc", "128"}};
    const auto with_heads = [&](const char* heads) {
        Flags all = flags;
        all.emplace_back("heads", heads);
        return session_of("flash_v2", all);
    };
    WaitingSession s = with_heads("17");
    CHECK(gantt_headline(s) == "272 thread blocks, 132 at a time: 2.06 waves, and 31% of the slots' time is tail.");
    CHECK(gantt_reason(s).starts_with(
        "Once the last thread block has started, at 118 µs, SMs that are done have nothing left to do. The limit is "));
    CHECK(gantt_title(*s.run())[0] == "flash_v2 · 128 × 128 · 175 µs · room for 1 thread block on each of 132 SMs");
    CHECK(gantt_left_out(s, 1).empty());
    CHECK(gantt_left_out(s, 3) == "One of 3 SMs is drawn.");
    const GanttLaunch& l = s.run()->gantt().launches()[0];
    CHECK(about_gantt(*s.run(), l, 5, 2) == "SM 5 at 2 µs, modelled\nthe launch itself: no thread block has started");
    CHECK(about_gantt(*s.run(), l, 131, 200) == "SM 131 at 200 µs, modelled\nno thread block: nothing is left for it");
    const std::string there = about_gantt(*s.run(), l, 5, 30);
    CHECK(there.starts_with("SM 5 at 30 µs, modelled\nthread block 5 (head 1, i 6): "));

    WaitingSession one = with_heads("1");
    CHECK(gantt_headline(one) == "16 thread blocks, all at once, on 16 of 132 SMs.");
    CHECK(gantt_left_out(one, 1) == "SMs 16 to 131 have nothing to do.");
    CHECK(gantt_legend(*one.run())
              .starts_with("Bars are thread blocks; hatched: nothing to do, or not launched yet. Modelled"));
    CHECK(gantt_legend(*s.run()).starts_with("Strong bars are the 16 of 272 thread blocks that are played;"));

    const StepParts step = step_parts(*s.run());
    double cycles = 0;
    for (const StepPart& p : step.parts) cycles += p.cycles;
    CHECK(cycles == Approx(step.cycles));
    CHECK(step.title == "A loop step of flash_v2, as half of a thread block's warps have it: 6,217 cycles");
    CHECK(part_text(step, {"tensor cores", "tensor", step.cycles / 4, false}) ==
          std::vector<std::string>{"tensor cores 25%", "tensor 25%", "25%", ""});
    CHECK(part_text(step, {"L2 or DRAM", "", step.cycles / 4, true}) ==
          std::vector<std::string>{"waits for L2 or DRAM 25%", "waits 25%", "25%", ""});
}

TEST_CASE("a race has its result when both are done, and not before", "[gantt]") {
    const Flags flags = {{"seq", "512"}, {"heads", "1"}, {"br", "64"}, {"bc", "64"}};
    for (const auto& [first, second] : {std::pair("flash_v1", "flash_v2"), std::pair("flash_v2", "flash_v1")}) {
        WaitingSession s = session_of(first, flags, second, Pace::time);
        const bool v2_first = std::string(first) == "flash_v2";
        const Run &v1 = v2_first ? *s.rival() : *s.run(), &v2 = v2_first ? *s.run() : *s.rival();
        CHECK(gantt_headline(s) == (v2_first ? "flash_v2 on 8 SMs against flash_v1 on 1 SM: both start now."
                                             : "flash_v1 on 1 SM against flash_v2 on 8 SMs: both start now."));
        const auto through = [&](const Run& run) {
            return std::string(run.algorithm().name) + " is " +
                   text::percent(s.seconds(run, run.tick()) * 1e6 / run.gantt().us()) + " through";
        };
        s.show(s.position_at(5e-6, false));
        CHECK(gantt_headline(s) == through(*s.run()) + ", " + through(*s.rival()) + " (modelled).");
        s.show(s.position_at(20e-6, v2_first));
        CHECK(gantt_headline(s) ==
              "flash_v2 is done, after " + text::microseconds(v2.gantt().us()) + "; " + through(v1) + " (modelled).");
        s.show(s.length());
        CHECK(gantt_headline(s) == "flash_v2 took " + text::microseconds(v2.gantt().us()) + ", flash_v1 " +
                                       text::number(v1.gantt().us() / v2.gantt().us()) + " times as long (modelled).");
    }
    WaitingSession alike = session_of("flash_v2", flags, "flash_v2");
    alike.show(alike.length());
    CHECK(gantt_headline(alike).starts_with("flash_v2 and flash_v2 took about as long: "));
}

TEST_CASE("a time is found among the positions, of either run of a race", "[gantt]") {
    const Flags flags = {{"seq", "256"}, {"heads", "2"}, {"br", "64"}, {"bc", "64"}};
    const WaitingSession alone = session_of("flash_v2", flags),
                         race = session_of("standard", flags, "flash_v2", Pace::time);
    for (Index p = 0; p <= alone.length(); ++p)
        CHECK(alone.position_at(alone.run()->seconds(alone.ticks_at(p).first), false) <= p);
    CHECK(alone.position_at(1, false) == alone.length());
    CHECK(alone.position_at(0, false) == 0);
    for (const bool rival : {false, true})
        for (const double share : {0.2, 0.5, 0.9}) {
            const Run& run = rival ? *race.rival() : *race.run();
            const double wanted = share * run.gantt().us() * 1e-6;
            const Index p = race.position_at(wanted, rival);
            const auto tick = [&](Index at) { return rival ? race.ticks_at(at).second : race.ticks_at(at).first; };
            CHECK(run.seconds_for_all(tick(p)) >= wanted);
            CHECK(run.seconds_for_all(tick(p - 1)) < wanted);
        }
}

TEST_CASE("times along an axis are round, and not too many", "[gantt]") {
    const auto texts = [](double us, int most) {
        std::vector<std::string> all;
        for (const TimeTick& t : time_ticks(us, most)) all.push_back(t.text);
        return all;
    };
    CHECK(texts(204, 5) == std::vector<std::string>{"0 µs", "50 µs", "100 µs", "150 µs", "200 µs"});
    CHECK(texts(3.3, 4) == std::vector<std::string>{"0 µs", "1 µs", "2 µs", "3 µs"});
    CHECK(texts(1000, 2) == std::vector<std::string>{"0 ms", "0.5 ms", "1 ms"});
    CHECK(texts(2.5e6, 1) == std::vector<std::string>{"0 s"});
    for (const double us : {0.7, 13.0, 999.0, 54321.0})
        for (int most = 1; most < 12; ++most) CHECK(static_cast<int>(time_ticks(us, most).size()) <= most + 1);
}

TEST_CASE("the recorded thread blocks are on the SMs that they have in the whole run", "[gantt]") {
    const Flags graded = {{"gpu", "toy"}, {"seq", "40"}, {"dim", "4"},       {"heads", "3"},
                          {"br", "4"},    {"bc", "4"},   {"causal", "true"}, {"dtype", "f32"}};
    const Flags full = {{"seq", "1000"}, {"heads", "6"}, {"sms", "7"}, {"br", "64"}, {"bc", "64"}};
    for (const Flags& flags : {graded, full})
        for (const char* algorithm : {"flash_v2", "standard", "flash_v1"}) {
            WaitingSession session = session_of(algorithm, flags);
            const Run& run = *session.run();
            std::map<std::pair<Index, Index>, double> last;  // by launch and SM: the start of the stay before
            std::map<std::pair<Index, Index>, Index> ended;
            std::vector<const Placement*> in_time;
            for (const Placement& p : run.schedule().placements()) in_time.push_back(&p);
            std::stable_sort(in_time.begin(), in_time.end(),
                             [](auto* a, auto* b) { return a->first_tick < b->first_tick; });
            for (const Placement* p : in_time) {
                const GanttStay* stay = run.gantt().launches()[static_cast<std::size_t>(p->launch)].stay_of(p->block);
                REQUIRE(stay);
                CHECK(p->sm == stay->sm);
                const auto [at, is_first] = last.emplace(std::pair(p->launch, p->sm), stay->from);
                CHECK((is_first || at->second <= stay->from));
                at->second = stay->from;
                const auto [end, first] = ended.emplace(std::pair(p->launch, p->sm), p->last_tick);
                CHECK((first || end->second == p->first_tick));
                end->second = p->last_tick;
            }
        }
}
