#include "show/run/run.hpp"

#include <cmath>
#include <random>
#include <set>

#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/timing.hpp"
#include "lab/run/reference.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;
using tilescope::testing::difference;
using tilescope::testing::same_bits;

namespace {

std::string different(const SmState& a, const SmState& b) {
    if (a.sm != b.sm || a.line != b.line) return "number or line";
    if ((a.block == nullptr) != (b.block == nullptr)) return "block";
    if (a.block && (a.block->launch != b.block->launch || a.block->block != b.block->block)) return "which block";
    if (a.sram_used != b.sram_used || a.registers_used != b.registers_used) return "bytes";
    if (a.tiles != b.tiles) return "tiles";
    return a.steps != b.steps ? "steps" : "";
}

std::string different(const Moment& a, const Moment& b) {
    if (a.tick != b.tick || a.kernel != b.kernel || a.launch != b.launch || a.busy != b.busy) return "head";
    if (a.sms.size() != b.sms.size()) return "as many SMs";
    for (std::size_t k = 0; k < a.sms.size(); ++k)
        if (const auto d = different(a.sms[k], b.sms[k]); !d.empty()) return d + " of SM " + std::to_string(k);
    return "";
}

/// The expected moment, computed from the trace and the placements without a player.
Moment expected_moment(const Run& run, Index tick) {
    const Schedule& schedule = run.schedule();
    Moment m{.tick = tick, .kernel = "", .launch = -1, .sms = {}, .busy = 0};
    m.sms.resize(static_cast<std::size_t>(schedule.sms_used()));
    std::map<TileId, Index> live;  // tiles on chip, and the steps that wrote them
    std::vector<TileId> oldest_first;
    for (Index k = 0; k < schedule.steps_after(tick); ++k) {
        const Event& e = run.trace()[k].event;
        if (e.kind() == Kind::launch) m.kernel = run.trace().launches()[static_cast<std::size_t>(++m.launch)].kernel;
        if (e.kind() == Kind::release)
            live.erase(e.out);
        else if (e.out != no_tile) {
            if (live.count(e.out) == 0) oldest_first.push_back(e.out);
            live[e.out] = k;
        }
    }
    for (Index sm = 0; sm < schedule.sms_used(); ++sm) {
        SmState& s = m.sms[static_cast<std::size_t>(sm)];
        s.sm = sm;
        for (const Placement& p : schedule.placements())
            if (p.sm == sm && p.first_tick < tick && tick <= p.last_tick) s.block = &p;
        if (!s.block) continue;
        ++m.busy;
        for (const TileId id : oldest_first) {
            const RecordedTile& t = run.trace().tiles()[id];
            if (live.count(id) == 0 || t.launch != s.block->launch || t.block != s.block->block) continue;
            s.tiles.push_back({id, live[id]});
            if (t.within == no_tile) (t.space == Space::sram ? s.sram_used : s.registers_used) += t.bytes();
        }
        for (Index k = schedule.steps_after(tick - 1); k < schedule.steps_after(tick); ++k) {
            const Step& step = run.trace()[k];
            if (step.launch != s.block->launch || step.event.block != s.block->block) continue;
            s.steps.push_back(k);
            s.line = step.event.line;
        }
    }
    return m;
}

std::map<std::uint16_t, Counters> expected_costs(const Run& run, Index tick) {
    std::map<std::uint16_t, Counters> by_line;
    for (Index k = 0; k < run.schedule().steps_after(tick); ++k)
        by_line[run.trace()[k].event.line] += run.trace()[k].event.cost;
    return by_line;
}

Counters cost_of(const std::map<std::uint16_t, Counters>& by_line, std::uint16_t line) {
    const auto found = by_line.find(line);
    return found != by_line.end() ? found->second : Counters{};
}

}  // namespace

TEST_CASE("a run counts all of its heads, however many it shows", "[run]") {
    for_all([](const Algorithm& a, const Case& c) {
        const Experiment e = experiment(a, c);
        const Report expected = count(e);
        Profile profile;
        run(a, c, e.gpu, exact_mode, {}, 1, &profile);
        for (const Index heads : {Index{1}, c.problem.batch_heads()}) {
            const Run r = run_of(e, heads);
            CHECK(difference(r.counted().counters, expected.counters) == "");
            CHECK(r.counted().sram_peak == expected.sram_peak);
            CHECK(r.counted().register_peak == expected.register_peak);
            CHECK(r.counted().hbm_footprint == expected.hbm_footprint);
            CHECK(&r.algorithm() == &a);
            REQUIRE(r.lines().size() == profile.lines().size());
            for (const auto& [line, costs] : profile.lines()) {
                CHECK(difference(r.lines().at(line).cost, costs.cost) == "");
                CHECK(r.lines().at(line).visits == costs.visits);
            }
        }
    });
}

TEST_CASE("at the last tick a line has cost what the program of the recorded heads costs", "[run]") {
    for_all([](const Algorithm& a, const Case& c) {
        for (const Index heads : {Index{1}, Index{2}, c.problem.batch_heads()}) {
            Run r = run_of(experiment(a, c), heads);
            r.seek(r.ticks());
            Profile profile;
            run(a, {r.recorded(), c.tiling, 1}, r.experiment().gpu, exact_mode, {}, 1, &profile);
            for (const auto& [line, costs] : profile.lines()) {
                CAPTURE(line);
                CHECK(difference(cost_of(r.line_costs(), line), costs.cost) == "");
            }
            for (const auto& [line, costs] : r.line_costs())
                if (line != 0 && profile.lines().count(line) == 0) CHECK(costs == Counters{});
        }
    });
}

TEST_CASE("costs of lines and bytes are the sums so far, at ticks in any order", "[run]") {
    for_all([](const Algorithm& a, const Case& c) {
        Run r = run_of(experiment(a, c), c.problem.batch_heads());
        std::vector<Index> ticks = some_ticks(r, static_cast<Index>(seeds(25)));
        // The steps around a keyframe.
        for (Index k = 1; k < r.ticks(); ++k)
            if (r.schedule().steps_after(k) / 512 != r.schedule().steps_after(k - 1) / 512)
                ticks.insert(ticks.end(), {k, k - 1, k + 1, k});
        for (const Index tick : ticks) {
            CAPTURE(tick);
            r.seek(tick);
            const auto expected = expected_costs(r, tick);
            Counters sum;
            for (const auto& [line, costs] : expected) {
                sum += costs;
                if (!(cost_of(r.line_costs(), line) == costs)) FAIL("line " << line);
            }
            CHECK(r.line_costs().size() == expected.size());
            CHECK(r.hbm_read(tick) == sum.hbm_read);
            CHECK(r.hbm_sent(tick) == sum.hbm_sent());
            CHECK(difference(r.player().state().total, sum) == "");
        }
    });
}

TEST_CASE("bytes at the last tick are those that the tensors moved", "[run]") {
    for_all([](const Algorithm& a, const Case& c) {
        Run r = run_of(experiment(a, c), 2);
        CHECK(r.hbm_read(0) + r.hbm_sent(0) == 0);
        r.seek(r.ticks());
        CHECK(r.player().position() == r.trace().size());
        CHECK(r.hbm_read(r.ticks()) == r.player().state().total.hbm_read);
        CHECK(r.hbm_sent(r.ticks()) == r.player().state().total.hbm_sent());
        Traffic all;
        for (const TensorState& t : r.player().state().tensors) all += t.traffic;
        CHECK(all.read == r.hbm_read(r.ticks()));
        CHECK(all.sent() == r.hbm_sent(r.ticks()));
        const Report alone = count({&a, r.recorded(), c.tiling, r.experiment().gpu});
        CHECK(difference(r.player().state().total, alone.counters) == "");
    });
}

TEST_CASE("in a race a recording takes as long as the whole run, each launch evenly over its ticks", "[run]") {
    for_all([](const Algorithm& a, const Case& c) {
        GpuSpec gpu = gpu_preset("H100");
        const Run r = run_of(experiment(a, c, gpu), 1);
        const RunTime t = time_of({&a, c.problem, c.tiling, gpu});
        CHECK(r.seconds_for_all(0) == 0);
        for (Index tick = 1; tick <= r.ticks(); ++tick)
            if (!(r.seconds_for_all(tick) > r.seconds_for_all(tick - 1))) FAIL("time stands still in tick " << tick);
        CHECK_THAT(r.seconds_for_all(r.ticks()), Catch::Matchers::WithinRel(t.us() * 1e-6, 1e-9));
        const Index first =
            r.schedule().placements().back().launch == 0 ? r.ticks() : r.schedule().placements_of(1)[0].first_tick - 1;
        CHECK_THAT(r.seconds_for_all(first), Catch::Matchers::WithinRel(t.launches[0].us * 1e-6, 1e-9));
    });
}

TEST_CASE("a moment is what the machine holds and does, however it was reached", "[run]") {
    for_all([](const Algorithm& a, const Case& c) {
        Run r = run_of(experiment(a, c), c.problem.batch_heads());
        CHECK(r.tick() == 0);
        CHECK(different(r.moment(), expected_moment(r, 0)) == "");
        const std::vector<Index> ticks = some_ticks(r, 9);
        for (std::size_t k = 0; k < ticks.size(); ++k) {
            const Index tick = ticks[k];
            CAPTURE(tick);
            r.seek(tick);
            CHECK(r.tick() == tick);
            CHECK(different(r.moment(), expected_moment(r, tick)) == "");
            if (k % 5 > 0) continue;
            Run fresh = run_of(experiment(a, c), c.problem.batch_heads());
            fresh.seek(tick);
            CHECK(different(fresh.moment(), r.moment()) == "");
            CHECK((fresh.player().state() == r.player().state()));
        }
    });
}

TEST_CASE("every step of the way, forwards and back", "[run]") {
    const Case c = cases()[1];
    for (const Algorithm& a : algorithms()) {
        INFO(to_string(a, c));
        Run r = run_of(experiment(a, c), 2);
        Bytes most = 0;
        std::set<std::string> kernels;
        for (Index k = 0; k <= 2 * r.ticks(); ++k) {
            const Index tick = k <= r.ticks() ? k : 2 * r.ticks() - k;
            r.seek(tick);
            if (const auto d = different(r.moment(), expected_moment(r, tick)); !d.empty()) FAIL(d << " at " << tick);
            for (const SmState& s : r.moment().sms) most = std::max(most, s.sram_used + s.registers_used);
            kernels.insert(r.moment().kernel);
        }
        CHECK(most > 0);
        CHECK(most <= r.counted().sram_peak + r.counted().register_peak);
        CHECK(kernels.size() == static_cast<std::size_t>(r.counted().counters.launches) + 1);
    }
}

TEST_CASE("a seek beyond the ends goes to the ends", "[run]") {
    Run r = run_of(experiment(*find_algorithm("flash_v2"), cases()[0]), 1);
    r.seek(-3);
    CHECK(r.tick() == 0);
    CHECK(r.moment().kernel.empty());
    CHECK(r.moment().launch == -1);
    CHECK(r.moment().busy == 0);
    r.seek(r.ticks() + 3);
    CHECK(r.tick() == r.ticks());
}

TEST_CASE("an SM's operation is what it moves or computes in a tick", "[run]") {
    const Case c = cases()[2];
    for (const Algorithm& a : algorithms()) {
        INFO(to_string(a, c));
        Run r = run_of(experiment(a, c), 2);
        Count operations = 0;
        for (Index tick = 0; tick <= r.ticks(); ++tick) {
            r.seek(tick);
            for (const SmState& sm : r.moment().sms) {
                const Step* expected = nullptr;
                for (const Index k : sm.steps) {
                    const Kind op = r.trace()[k].event.kind();
                    const bool other =
                        op == Kind::block_begin || op == Kind::block_end || op == Kind::alloc || op == Kind::release;
                    if (!other) expected = &r.trace()[k];
                }
                if (r.operation(sm) != expected) FAIL("tick " << tick << ", SM " << sm.sm);
                operations += expected != nullptr;
            }
        }
        Count all = 0;
        for (Index k = 0; k < r.trace().size(); ++k) {
            const Kind op = r.trace()[k].event.kind();
            all +=
                op == Kind::load || op == Kind::store || op == Kind::product || op == Kind::map || op == Kind::reduce;
        }
        CHECK(operations == all);
    }
}

TEST_CASE("a tile's values before are those of the write before", "[run]") {
    for_all([](const Algorithm& a, const Case& c) {
        Run r = run_of(experiment(a, c), 2);
        Count with = 0, without = 0;
        for (const Index tick : some_ticks(r, 30)) {
            r.seek(tick);
            for (const SmState& sm : r.moment().sms)
                for (const TileState& tile : sm.tiles) {
                    Index before = -1;
                    for (Index k = 0; k < tile.written; ++k)
                        if (r.trace()[k].event.out == tile.tile) before = k;
                    const TileData expected = before < 0 ? TileData{} : r.trace().values(r.trace()[before]);
                    if (!same_bits(r.values_before(tile), expected)) FAIL("tick " << tick << ", SM " << sm.sm);
                    ++(before < 0 ? without : with);
                }
        }
        CHECK(with > 0);
        CHECK(without > 0);
    });
}

TEST_CASE("the next and the previous tick in which something happens on an SM", "[run]") {
    const Case c = cases()[1];
    for (const Algorithm& a : algorithms()) {
        INFO(to_string(a, c));
        const Run r = run_of(experiment(a, c), 3);
        const auto check = [&](Index sm, auto wanted) {
            std::set<Index> ticks;
            for (Index k = 0; k < r.trace().size(); ++k) {
                const Step& s = r.trace()[k];
                bool here = s.event.kind() == Kind::launch;  // a launch concerns all SMs
                for (const Placement& p : r.schedule().placements())
                    here |= s.event.kind() != Kind::launch && p.launch == s.launch && p.block == s.event.block &&
                            p.sm == sm;
                if (r.on_sm(s, sm) != here) FAIL("where step " << k << " happens");
                if (here && wanted(s)) ticks.insert(r.schedule().tick_of(k));
            }
            for (Index tick = 0; tick <= r.ticks(); ++tick) {
                const auto after = ticks.upper_bound(tick), at = ticks.lower_bound(tick);
                const auto next = r.next_tick(tick, sm, wanted), previous = r.previous_tick(tick, sm, wanted);
                if (next != (after == ticks.end() ? std::nullopt : std::optional(*after))) FAIL("after " << tick);
                if (previous != (at == ticks.begin() ? std::nullopt : std::optional(*std::prev(at))))
                    FAIL("before " << tick);
            }
            return ticks.size();
        };
        for (const Index sm : {Index{0}, r.schedule().sms_used() - 1}) {
            CHECK(check(sm, is(Kind::load)) > 0);
            CHECK(check(sm, enters_line) > 0);
            CHECK(check(sm, is(Kind::launch)) == r.trace().launches().size());
            CHECK(check(sm, [](const Step&) { return false; }) == 0);
        }
    }
}

TEST_CASE("as many heads are recorded as fit, those that share a K and V together", "[run]") {
    const Algorithm& a = *find_algorithm("flash_v2");
    Case c = shaped(24, 24, Dtype::f16, false, 1, 8, 2);  // four heads share K and V
    const Report one = count(experiment(a, shaped(24, 24, Dtype::f16, false, 1, 1, 1)));
    const Count flops = one.counters.matmul_flops + 8 * one.counters.exps;
    const Bytes values = 2 * (one.counters.sram_write + one.counters.register_write);
    const Run recorded = run_of(experiment(a, shaped(24, 24, Dtype::f16, false, 1, 1, 1)), 1);
    const Index events = recorded.trace().size() - 1;
    const std::pair<Index, Index> expected[] = {{0, 1}, {1, 1}, {2, 2}, {3, 3}, {4, 4},  {5, 4},
                                                {6, 4}, {7, 4}, {8, 8}, {9, 8}, {100, 8}};
    const Counted counted = count_for_show(experiment(a, c));
    for (const auto& [fit, heads] : expected) {
        CAPTURE(fit);
        CHECK(heads_to_record(counted, {.matmul_flops = fit * flops}) == heads);
        CHECK(heads_to_record(counted, {.value_bytes = fit * values}) == heads);
        CHECK(heads_to_record(counted, {.events = 1 + fit * events}) == heads);
        CHECK(heads_to_record(counted, {.matmul_flops = 2 * flops, .events = 1 + fit * events}) ==
              std::min(heads, Index{2}));
    }
    // A single head may take twice the limit.
    CHECK(heads_with_numbers(counted, {.matmul_flops = ceil_div(flops, 2)}) == 1);
    CHECK(heads_with_numbers(counted, {.matmul_flops = ceil_div(flops, 2) - 1}) == 0);
    CHECK(heads_to_record(counted) == 8);
    c.problem.batch = 3;
    CHECK(heads_to_record(count_for_show(experiment(a, c))) == 24);
    CHECK(heads_to_record(count_for_show(experiment(a, c)), {.matmul_flops = 23 * flops}) == 16);
    CHECK(heads_to_record(count_for_show(experiment(a, c)), {.matmul_flops = 7 * flops}) == 4);
}

TEST_CASE("what heads_to_record promises is recorded with numbers", "[run]") {
    for_all([](const Algorithm& a, const Case& c) {
        const Experiment e = experiment(a, c);
        const Counted counted = count_for_show(e);
        for (const RecordingLimits& limits : {RecordingLimits{}, RecordingLimits{.matmul_flops = 60'000},
                                              RecordingLimits{.value_bytes = 60'000}, RecordingLimits{.events = 400}}) {
            const Index heads = heads_to_record(counted, limits);
            const Run r = run_of(e, heads, limits);
            CHECK(r.recorded().batch_heads() == heads);
            CHECK(r.trace().size() <= limits.events);
            if (heads > 1) CHECK(r.has_values());
            if (r.has_values()) CHECK(r.shortened().empty() == (heads == c.problem.batch_heads()));
            if (!r.has_values()) CHECK_THAT(r.shortened(), Catch::Matchers::ContainsSubstring("numbers"));
        }
    });
}

TEST_CASE("recorded heads compute the same as in a run of all of them", "[run]") {
    Case sloping = shaped(9, 9, Dtype::f32, true, 1, 6, 2);
    sloping.problem.alibi = 6;  // slopes depend on the number of heads
    Case of_entries = shaped(9, 9, Dtype::f32, true, 4, 2, 1), of_groups = of_entries;
    of_entries.problem.alibi = 2;  // each batch entry has slopes
    of_entries.problem.bias = {*Bias::terms_from("hqk+bk"), 1};
    of_groups.problem.bias = {*Bias::terms_from("ghqk"), 2};
    std::size_t shape = 0;
    for (const Case& each : {shaped(13, 17, Dtype::f16, false, 2, 4, 2), shaped(20, 20, Dtype::f32, true, 1, 6, 2),
                             sloping, of_entries, of_groups}) {
        ++shape;
        for (std::size_t n = 0; n < algorithms().size(); ++n) {
            if (!takes(n, shape)) continue;
            const Algorithm& a = algorithms()[n];
            const Case c = as_supported(a, each);
            INFO(to_string(a, c));
            const Experiment e = experiment(a, c);
            const Report whole = execute(e, random_for(a)(c.problem), 1);
            const std::vector<float> expected = contents(*whole.output());
            for (Index heads = 0; heads <= c.problem.batch_heads() + 1; ++heads) {
                CAPTURE(heads);
                Run r = run_of(e, heads);
                REQUIRE(r.has_values());
                const Index shown = r.recorded().batch_heads();
                CHECK(shown <= std::max<Index>(heads, 1));
                CHECK(shown >= std::min<Index>(heads, c.problem.heads / c.problem.kv_heads));
                r.seek(r.ticks());
                const std::vector<float> got = stored_output(r);
                const auto size = expected.size() / static_cast<std::size_t>(c.problem.batch_heads());
                REQUIRE(got.size() == size * static_cast<std::size_t>(shown));
                CHECK(same_bits(got, {expected.data(), got.size()}));
                const std::string part = shown == c.problem.batch_heads() ? ""
                                         : shown == 1                     ? "head 1 of "
                                                                          : "heads 1-" + std::to_string(shown) + " of ";
                CHECK(r.shortened().empty() == part.empty());
                CHECK_THAT(r.shortened(), Catch::Matchers::ContainsSubstring(part));
            }
        }
    }
}

TEST_CASE("of large problems so much is recorded as can be shown, as shapes", "[long][run]") {
    for (const bool causal : {false, true})
        for (const Algorithm& a : algorithms()) {
            Case c{{}, {}, 1};
            c.problem.heads = c.problem.kv_heads = 64;
            c.problem.seq_q = c.problem.seq_k = 16384;
            c.problem.mask = causal ? Mask::causal() : Mask();
            const GpuSpec gpu = gpu_preset("A100-40GB");
            c.tiling = choose_tiling(a, c.problem, {}, gpu);
            INFO(to_string(a, c));
            const Experiment e = experiment(a, c, gpu);
            const Counted counted = count_for_show(e);
            CHECK(heads_to_record(counted) == 1);
            Run r = run_of(e, heads_to_record(counted));
            CHECK_FALSE(r.has_values());
            CHECK(r.trace().size() <= RecordingLimits{}.events);
            CHECK(r.ticks() > 100);
            CHECK(difference(r.counted().counters, counted.report.counters) == "");
            using Catch::Matchers::ContainsSubstring;
            CHECK_THAT(r.shortened(), ContainsSubstring("head 1 of 64"));
            CHECK_THAT(r.shortened(), ContainsSubstring("shapes only") || ContainsSubstring("without numbers"));
            for (const Index tick : some_ticks(r, 5)) {
                r.seek(tick);
                for (const SmState& sm : r.moment().sms) {
                    CHECK(r.error_so_far(sm).empty());
                    for (const TileState& tile : sm.tiles) {
                        CHECK(r.values_before(tile).empty());
                        CHECK(r.player().values(tile).empty());
                    }
                }
                CHECK(r.stored_error().rows == 0);
                CHECK(r.stored_error().of == 16384);
            }
        }
}

TEST_CASE("a recording says what part of the run it is", "[run]") {
    const Algorithm& a = *find_algorithm("flash_v2");
    const Case c = shaped(24, 24, Dtype::f16, true, 1, 2, 2);  // 6 blocks a head, from 1 key tile to 4
    const Experiment e = experiment(a, c);
    const Index all = run_of(e, 2).trace().size();
    const auto text = [&](Index heads, RecordingLimits limits) { return run_of(e, heads, limits).shortened(); };
    CHECK(text(2, {}) == "");
    CHECK(text(1, {}) == "Shown: head 1 of 2. The others do the same on other data.");
    CHECK(text(2, {.matmul_flops = 1, .events = all}) == "Too large for numbers: shapes only.");
    CHECK(text(1, {.matmul_flops = 1}) ==
          "Shown: head 1 of 2. The others do the same on other data. Too large for numbers: shapes only.");
    // The limit counts what is recorded, without the other heads.
    Case more = c;
    more.problem.heads = more.problem.kv_heads = 8;
    CHECK(run_of(experiment(a, more), 1, {.matmul_flops = 1, .events = all / 2 + 1}).shortened() ==
          "Shown: head 1 of 8. The others do the same on other data. Too large for numbers: shapes only.");
    // The blocks are causal: the first is the shortest.
    const Run part = run_of(e, 2, {.events = all - 1});
    CHECK_FALSE(part.has_values());
    CHECK_THAT(part.shortened(), Catch::Matchers::StartsWith("Too large for numbers: shapes only, of the first "));
    CHECK(part.shortened().find(std::to_string(part.schedule().placements().size()) + " thread blocks") !=
          std::string::npos);
    CHECK(part.schedule().placements().size() > 1);
    CHECK(part.trace()[part.trace().size() - 1].event.kind() == Kind::block_end);  // the recorded blocks are whole
    CHECK(text(2, {.events = 10}) == "Too long to record: the first 10 events, without numbers.");
    const Run cut = run_of(e, 2, {.events = 10});
    CHECK(cut.trace().size() == 10);
    CHECK(cut.schedule().placements().size() == 1);
}

TEST_CASE("a recording of one step can be looked at", "[run]") {
    for (const Algorithm& a : algorithms())
        for (const Index events : {1, 2, 3}) {
            Run r = run_of(experiment(a, cases()[1]), 1, {.events = events});
            CHECK(r.trace().size() == events);
            for (Index tick = 0; tick <= r.ticks(); ++tick) {
                r.seek(tick);
                CHECK(different(r.moment(), expected_moment(r, tick)) == "");
                CHECK(r.line_costs().size() == expected_costs(r, tick).size());
            }
        }
}

TEST_CASE("lines cost what was counted, also where the program looks for room", "[run]") {
    for_all([](const Algorithm& a, const Case& c) {
        for (const GpuSpec& gpu : machines(a, c)) {
            const Run r = run_of(experiment(a, c, gpu), 1);
            Counters sum;
            for (const auto& [line, profile] : r.lines()) sum += profile.cost;
            // Launches and thread blocks belong to no line.
            sum.launches = r.counted().counters.launches, sum.thread_blocks = r.counted().counters.thread_blocks;
            CHECK(difference(sum, r.counted().counters) == "");
            CHECK(r.nest().size() == r.counted().launches.size());
        }
    });
}

TEST_CASE("a tiling that does not fit throws", "[run]") {
    const Case c = cases()[1];
    for (const Algorithm& a : algorithms())
        CHECK_THROWS_AS(run_of(experiment(a, c, machine(8, 8)), 1), OutOfChipMemory);
}
