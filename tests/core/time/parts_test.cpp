#include "core/time/parts.hpp"

#include <cmath>
#include <map>
#include <numeric>

#include "tests/support/catch.hpp"

using namespace tilescope;

namespace {

bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b)); }

PerUnit busy(double tensor, double exp, double dram = 0) {
    PerUnit u{};
    u[static_cast<std::size_t>(Unit::tensor)] = tensor, u[static_cast<std::size_t>(Unit::exp)] = exp;
    u[static_cast<std::size_t>(Unit::dram)] = dram;
    return u;
}

StepTime step(double alone, double busiest, PerUnit of_units, double waiting = 0, double memory = 0) {
    StepTime s;
    s.alone = alone, s.busiest = busiest, s.busy = of_units, s.waiting = waiting, s.memory = memory;
    return s;
}

/// One block of 10 steps and one of 30, each with a second loop.
std::vector<BlockWork> two_works() {
    const StepTime full = step(100, 60, busy(60, 40)), last = step(50, 20, busy(20, 20), 10, 70);
    return {{{}, 200, {{0, 10, 0, full}, {0, 1, 0, last}}},
            {{}, 200, {{0, 30.1, 0.1, full}, {1, 2, 0, last}}, {.memory = 90, .bus = 40}}};
}

std::vector<std::size_t> stays_on(const Timeline& t, std::uint32_t sm) {
    std::vector<std::size_t> on;
    for (std::size_t k = 0; k < t.stays.size(); ++k)
        if (t.stays[k].sm == sm) on.push_back(k);
    return on;
}

}  // namespace

TEST_CASE("the time of loops and what is outside them sum to how long a thread block stays", "[perfetto]") {
    const std::vector<BlockWork> works = two_works();
    const Grid grid{{works[0].cycles(3), works[1].cycles(3)}, {0, 1, 1, 0, 0}, 7};
    for (const Refill refill : {Refill::packed, Refill::spread}) {
        const Timeline t = play(grid, 4, 3, refill);
        std::map<std::size_t, std::vector<Progress>> progress;
        for (std::uint32_t sm = 0; sm < 4; ++sm)
            each_company(t.stays, stays_on(t, sm), [&](const Company& c) {
                CHECK(c.stays.size() <= 3);
                for (const std::size_t s : c.stays)
                    progress[s].push_back(
                        {static_cast<Index>(c.stays.size()), 1,
                         (c.to - c.from) / grid.kinds[grid.sequence[s % grid.sequence.size()]][c.stays.size() - 1]});
            });
        REQUIRE(progress.size() == t.stays.size());
        for (const auto& [s, p] : progress) {
            CHECK(near(std::accumulate(p.begin(), p.end(), 0.0,
                                       [](double sum, const Progress& part) { return sum + part.part; }),
                       1));
            const BlockWork& work = works[grid.sequence[s % grid.sequence.size()]];
            double sum = work.outside(p);
            CHECK(sum >= work.fixed);
            for (const LoopWork& l : work.loops) {
                const LoopTime time = time_in(l, p);
                CHECK(near(time.own, l.turns * l.step.alone));
                CHECK(time.unit >= 0);
                CHECK(time.memory >= 0);
                sum += time.all();
            }
            CHECK(near(sum, t.stays[s].to - t.stays[s].from));
        }
    }
}

TEST_CASE("a step waits for the busiest unit, and for memory where that takes longer", "[perfetto]") {
    const LoopWork loop{0, 4, 0, step(100, 60, busy(60, 40, 120), 0, 120)};
    const auto wait = [&](std::vector<Progress> progress) { return time_in(loop, progress); };
    const Progress alone{1, 1, 1}, of_two{2, 1, 1};
    CHECK(near(wait({alone}).own, 400));
    CHECK(wait({alone}).unit == 0);
    CHECK(near(wait({alone}).memory, 4 * (120 - 100)));
    CHECK(near(wait({of_two}).unit, 4 * 60));
    CHECK(near(wait({of_two}).memory, 4 * (240 - 160)));
    CHECK(near(wait({{1, 1, 0.5}, {2, 1, 0.5}}).all(), 4 * (120 + 240) / 2.0));
    CHECK(near(wait({{2, 0.75, 1}}).memory, 4 * (180 - 160)));  // three of four blocks are left, over all SMs
    CHECK(wait({{2, 0.5, 1}}).memory == 0);
    // A block of 8 warps counts as two of 4, which wait for each other.
    LoopWork twice{0, 1, 0, step(100, 30, busy(60, 40))};
    twice.step.residents = 2;
    CHECK(near(time_in(twice, std::vector<Progress>{{1, 1, 1}}).unit, 30));
}

TEST_CASE("the terms of a step are those of its units on chip, and sum to what is no waiting", "[perfetto]") {
    const std::vector<Term> terms = terms_of(step(230, 60, busy(60, 40, 500), 100));
    REQUIRE(terms.size() == 2);
    CHECK(terms[0].unit == Unit::tensor);
    CHECK(near(terms[0].cycles, 78));
    CHECK(terms[1].unit == Unit::exp);
    CHECK(near(terms[1].cycles, 52));
    CHECK(terms_of(StepTime{}).empty());
}

TEST_CASE("slots are taken from the first on, and no two stays share one at a time", "[perfetto]") {
    const std::vector<Stay> stays{{0, 0, 10}, {1, 0, 50}, {0, 0, 20}, {0, 10, 30}, {0, 20, 40}, {0, 35, 60}};
    const std::vector<std::size_t> on_sm{0, 2, 3, 4, 5};
    CHECK(slots_of(stays, on_sm) == std::vector<std::uint32_t>{0, 1, 0, 1, 0});
}

TEST_CASE("an SM that is empty for a while has no company then", "[perfetto]") {
    const std::vector<Stay> stays{{0, 5, 10}, {0, 20, 30}, {0, 25, 30}};
    const std::vector<std::size_t> on_sm{0, 1, 2};
    std::vector<std::vector<double>> seen;
    each_company(stays, on_sm, [&](const Company& c) {
        seen.push_back({c.from, c.to, static_cast<double>(c.stays.size())});
    });
    CHECK(seen == std::vector<std::vector<double>>{{5, 10, 1}, {20, 25, 1}, {25, 30, 2}});
}

TEST_CASE("masks cost time, and no unit's work", "[perfetto]") {
    const BlockWork work = two_works()[1];
    CHECK(near(work.busy()[static_cast<std::size_t>(Unit::tensor)], 30 * 60 + 2 * 20));
    CHECK(near(work.cycles(1)[0], 200 + 30.1 * 100 + 2 * 70));
}

TEST_CASE("every further thread block waits for what no step hides, with fewer SMs beside for less of it",
          "[perfetto]") {
    const BlockWork work{{}, 200, {}, {.memory = 90, .bus = 40}};
    CHECK(work.cycles(3) == BlockCycles{200, 290, 380});
    CHECK(near(work.cycles_beside(2, 0.5), 245));
    CHECK(near(work.cycles_beside(2, 0.1), 240));  // the most that one SM can draw
    CHECK(near(work.outside(std::vector<Progress>{{1, 1, 0.5}, {3, 1, 0.25}, {2, 0.5, 0.25}}), 200 + 45 + 11.25));
}
