#include "core/time/schedule.hpp"

#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "core/machine/operations/of_block.hpp"
#include "core/record/player.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/run/experiment.hpp"
#include "tests/support/problems.hpp"
#include "tests/support/programs.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::testing;

namespace {

using Place = std::pair<Index, Index>;  // launch and block

constexpr Index machine_sizes[] = {1, 2, 4, 1000};

Place place_of(const Step& s) { return {s.launch, s.event.block}; }

bool computes(const Step& s) {
    const Kind op = s.event.kind();
    return op == Kind::load || op == Kind::store || op == Kind::product || op == Kind::map || op == Kind::reduce;
}

/// Whether two steps are equal, except for their index in the list of regions, which depends on the order.
bool same(const Step& a, const Step& b) {
    const Event &x = a.event, &y = b.event;
    return x.operation == y.operation && x.line == y.line && x.source_line == y.source_line && x.block == y.block &&
           x.out == y.out && x.a() == y.a() && x.b() == y.b() && x.region == y.region && x.cost == y.cost &&
           x.times == y.times && x.sram_used == y.sram_used && x.registers_used == y.registers_used &&
           a.launch == b.launch && a.enters_line == b.enters_line && a.first_value == b.first_value &&
           a.values == b.values;
}

/// The steps of each thread block in the order of the trace; a launch is under block -1.
std::map<Place, std::vector<const Step*>> by_block(const Trace& t) {
    std::map<Place, std::vector<const Step*>> all;
    for (Index k = 0; k < t.size(); ++k)
        all[t[k].event.kind() == Kind::launch ? Place{t[k].launch, -1} : place_of(t[k])].push_back(&t[k]);
    return all;
}

std::string same_steps_in_every_block(const Trace& before, const Trace& after) {
    const auto a = by_block(before), b = by_block(after);
    if (before.size() != after.size() || a.size() != b.size()) return "not as many steps or blocks";
    for (const auto& [place, steps] : a) {
        const auto found = b.find(place);
        if (found == b.end() || found->second.size() != steps.size()) return "a block that lost or won steps";
        for (std::size_t k = 0; k < steps.size(); ++k)
            if (!same(*steps[k], *found->second[k])) return "another step, or another order, within a block";
    }
    return "";
}

std::string wrong_placements(const Schedule& schedule, Index sms) {
    if (schedule.sms_used() > sms) return "more SMs than there are";
    Place last{-1, -1};
    for (const Placement& p : schedule.placements()) {
        if (Place{p.launch, p.block} <= last) return "the order of placements, or a block that runs twice";
        if (p.sm < 0 || p.sm >= schedule.sms_used() || p.first_tick >= p.last_tick) return "a placement";
        last = {p.launch, p.block};
    }
    return "";
}

/// What is wrong with a tick: each SM has at most one turn, taken by the block that is placed there.
std::string wrong_turns(const Schedule& schedule, Index tick) {
    const Trace& t = schedule.trace();
    std::map<Place, const Placement*> placed;
    for (const Placement& p : schedule.placements()) placed[{p.launch, p.block}] = &p;
    std::map<Place, Index> operations;
    Index sm = -1;
    for (Index k = schedule.steps_after(tick - 1); k < schedule.steps_after(tick); ++k) {
        if (schedule.tick_of(k) != tick) return "the tick of a step";
        if (t[k].event.kind() == Kind::launch) {
            if (schedule.steps_after(tick) - schedule.steps_after(tick - 1) > 1) return "a launch with company";
            for (const Placement& p : schedule.placements())
                if (p.launch < t[k].launch ? p.last_tick >= tick : p.first_tick < tick) return "a launch's time";
            continue;
        }
        const Placement& p = *placed.at(place_of(t[k]));
        if (tick <= p.first_tick || tick > p.last_tick) return "a step outside of its block's time";
        if (schedule.at(p.sm, tick) != &p) return "what an SM is busy with";
        if (p.sm < sm) return "SMs out of order";
        sm = p.sm;
        if (operations[place_of(t[k])] > 0) return "a turn that goes on after its operation";
        operations[place_of(t[k])] += computes(t[k]);
    }
    std::size_t busy = 0;
    for (Index s = 0; s <= schedule.sms_used(); ++s) busy += schedule.at(s, tick) != nullptr;
    return busy == operations.size() ? "" : "an SM that is busy with nothing";
}

/// What breaks the rules of the machine, going by what the schedule says about its ticks.
std::string wrong(const Schedule& schedule, Index sms) {
    if (schedule.steps_after(0) != 0 || schedule.steps_after(schedule.ticks()) != schedule.trace().size())
        return "the ends";
    if (const auto w = wrong_placements(schedule, sms); !w.empty()) return w;
    for (Index tick = 1; tick <= schedule.ticks(); ++tick) {
        if (schedule.steps_after(tick) <= schedule.steps_after(tick - 1)) return "an empty tick";
        if (const auto w = wrong_turns(schedule, tick); !w.empty()) return w + " in tick " + std::to_string(tick);
    }
    return "";
}

/// Launches in which several blocks store to the same place: these blocks play one after the other.
std::set<Index> in_turn(const Trace& t) {
    std::map<std::tuple<Index, TensorId, Index, Index, Index>, Index> by;  // by launch and place: the first block
    std::set<Index> launches;
    for (Index k = 0; k < t.size(); ++k) {
        const Event& e = t[k].event;
        if (e.operation != &operation::store) continue;
        const auto place =
            std::tuple(t[k].launch, e.region.tensor, e.region.slice, e.region.rows.begin, e.region.cols.begin);
        if (by.try_emplace(place, e.block).first->second != e.block) launches.insert(t[k].launch);
    }
    return launches;
}

/// What is wrong with the order: each block goes to the SM that became free first, of several to the lowest number.
std::string wrong_order(const Schedule& schedule, Index sms) {
    const std::set<Index> one_by_one = in_turn(schedule.trace());
    Index last_end = 0;
    std::map<Index, Index> launch_ends;  // by launch: the tick after which its blocks begin
    for (Index k = 0; k < schedule.trace().size(); ++k)
        if (const Step& s = schedule.trace()[k]; s.event.kind() == Kind::launch)
            launch_ends[s.launch] = schedule.tick_of(k);
    Index launch = -1;
    std::vector<Index> free;
    for (const Placement& p : schedule.placements()) {
        if (p.launch != launch) free.assign(static_cast<std::size_t>(sms), launch_ends.at(p.launch));
        const bool first = p.launch != launch;
        launch = p.launch;
        if (one_by_one.contains(launch)) {
            if (p.first_tick != (first ? launch_ends.at(launch) : last_end))
                return "block " + std::to_string(p.block) + " of launch " + std::to_string(launch) + ", in turn";
            last_end = p.last_tick;
            continue;
        }
        const auto soonest = std::min_element(free.begin(), free.end());
        if (p.sm != soonest - free.begin() || p.first_tick != *soonest)
            return "block " + std::to_string(p.block) + " of launch " + std::to_string(p.launch);
        *soonest = p.last_tick;
    }
    return "";
}

/// What is wrong with bytes on chip. At every tick, each block must hold what its events said, and all of it must fit.
std::string wrong_memory(const Schedule& schedule, const GpuSpec& gpu) {
    const Trace& t = schedule.trace();
    Player player(t);
    std::map<Place, std::pair<Bytes, Bytes>> said;
    for (Index tick = 1; tick <= schedule.ticks(); ++tick) {
        player.seek(schedule.steps_after(tick));
        for (Index k = schedule.steps_after(tick - 1); k < schedule.steps_after(tick); ++k)
            said[place_of(t[k])] = {t[k].event.sram_used, t[k].event.registers_used};
        std::map<Place, std::pair<Bytes, Bytes>> used;
        for (const TileState& live : player.state().tiles) {
            const RecordedTile& tile = t.tiles()[live.tile];
            if (tile.within != no_tile) continue;  // its bytes are those of the place that it lies in
            auto& [sram, registers] = used[{tile.launch, tile.block}];
            (tile.space == Space::sram ? sram : registers) += tile.bytes();
        }
        for (const auto& [place, bytes] : used) {
            if (bytes.first > gpu.sram_per_block || bytes.second > gpu.registers_per_sm) return "more than fits";
            if (bytes != said[place]) return "not what the events say";
        }
    }
    return "";
}

std::string wrong_result(const Trace& before, const Trace& after) {
    Player a(before), b(after);
    a.seek(a.size());
    b.seek(b.size());
    if (const auto d = difference(a.state().total, b.state().total); !d.empty()) return d;
    if (a.state().tiles.size() != b.state().tiles.size()) return "tiles";
    for (TensorId t = 0; t < before.tensors().size(); ++t) {
        const std::string& name = before.tensors()[t].name;
        if (!(a.state().tensors[t].traffic == b.state().tensors[t].traffic)) return "traffic of " + name;
        if (!tilescope::testing::same_bits(a.values(t), b.values(t))) return "contents of " + name;
    }
    return "";
}

/// What is wrong with the lists of regions: ordered by first use, each region once, as the player keeps them.
std::string wrong_regions(const Trace& t) {
    std::vector<std::vector<Region>> seen(t.tensors().size());
    for (Index k = 0; k < t.size(); ++k) {
        if (!t[k].moves_data()) continue;
        auto& list = seen[t[k].event.region.tensor];
        auto found = std::find(list.begin(), list.end(), t[k].event.region);
        if (found == list.end()) found = list.insert(list.end(), t[k].event.region);
        if (t[k].region != found - list.begin()) return "the region of step " + std::to_string(k);
    }
    Player player(t);
    player.seek(t.size());
    for (TensorId n = 0; n < seen.size(); ++n) {
        if (t.tensors()[n].regions != seen[n]) return "the regions of " + t.tensors()[n].name;
        const auto& touched = player.state().tensors[n].touched;
        if (touched.size() != seen[n].size()) return "as many touched regions";
        for (std::size_t r = 0; r < touched.size(); ++r)
            if (!(touched[r].region == seen[n][r])) return "a touched region";
    }
    return "";
}

Case small_case(Index seq_q, Index seq_k, Dtype dtype, bool causal, Index batch, Index heads, Index kv_heads) {
    Case c{{}, {4, 6}, 1};
    c.problem.seq_q = seq_q, c.problem.seq_k = seq_k, c.problem.dim = 5, c.problem.dim_v = 3;
    c.problem.batch = batch, c.problem.heads = heads, c.problem.kv_heads = kv_heads;
    c.problem.dtype = dtype, c.problem.mask = causal ? Mask::causal() : Mask();
    return c;
}

std::vector<Case> small_cases() {
    return {small_case(12, 12, Dtype::f32, false, 1, 1, 1), small_case(13, 17, Dtype::f16, false, 1, 3, 3),
            small_case(22, 22, Dtype::f16, true, 1, 2, 2), small_case(19, 9, Dtype::bf16, true, 2, 4, 2)};
}

GpuSpec toy(Index sms) {
    GpuSpec gpu = gpu_preset("toy");
    gpu.sms = sms;
    return gpu;
}

Trace recorded(const Algorithm& a, const Case& c, const GpuSpec& spec, TraceOptions options = {}) {
    Gpu gpu(spec, numeric_mode, 1);
    Trace trace(gpu, std::move(options));
    gpu.listen(trace);
    try {
        run_program(gpu, a, c.problem, c.tiling, inputs_for(a, c));
    } catch (const RunError&) {  // the recording is full
    }
    return trace;
}

template <class F>
void for_all(F&& f) {
    std::size_t n = 0;
    for (const Case& c : small_cases())
        for (const Algorithm& a : algorithms()) {
            ++n;
            for (std::size_t k = 0; k < std::size(machine_sizes); ++k) {
                const Index sms = machine_sizes[k];
                if (!takes(n, k)) continue;
                INFO(to_string(a, c) << " --gpu toy --sms " << sms);
                f(a, c, toy(sms));
            }
        }
}

}  // namespace

TEST_CASE("thread blocks run side by side by the rules of the machine", "[schedule]") {
    for_all([](const Algorithm& a, const Case& c, const GpuSpec& gpu) {
        const Trace before = recorded(a, c, gpu);
        REQUIRE(before.size() > 0);
        const Schedule schedule(Trace(before), gpu.sms);
        CHECK(same_steps_in_every_block(before, schedule.trace()) == "");
        CHECK(wrong(schedule, gpu.sms) == "");
        CHECK(wrong_order(schedule, gpu.sms) == "");
        CHECK(wrong_memory(schedule, gpu) == "");
        CHECK(schedule.placements().size() ==
              static_cast<std::size_t>(count({&a, c.problem, c.tiling, gpu}).counters.thread_blocks));
    });
}

TEST_CASE("thread blocks side by side compute and move the same", "[schedule]") {
    for_all([](const Algorithm& a, const Case& c, const GpuSpec& gpu) {
        const Trace before = recorded(a, c, gpu);
        const Schedule schedule(Trace(before), gpu.sms);
        CHECK(wrong_result(before, schedule.trace()) == "");
        CHECK(wrong_regions(schedule.trace()) == "");
    });
}

TEST_CASE("one SM keeps the order of the recording, and more of them take less time", "[schedule]") {
    for (const Case& c : small_cases())
        for (const Algorithm& a : algorithms()) {
            INFO(to_string(a, c));
            const Trace before = recorded(a, c, toy(1));
            const Schedule one(Trace(before), 1), two(Trace(before), 2), many(Trace(before), 1000);
            for (Index k = 0; k < before.size(); ++k)
                if (!same(before[k], one.trace()[k]) || before[k].region != one.trace()[k].region) FAIL("step " << k);
            CHECK(one.sms_used() == 1);
            const std::set<Index> one_by_one = in_turn(before);
            std::map<Index, Index> blocks, longest;  // by launch
            for (const Placement& p : many.placements()) {
                const bool waits = one_by_one.contains(p.launch);
                ++blocks[p.launch];
                Index& ticks = longest[p.launch];
                ticks = waits ? ticks + p.last_tick - p.first_tick : std::max(ticks, p.last_tick - p.first_tick);
            }
            Index most = 0, least_time = 0;
            for (const auto& [launch, n] : blocks) most = std::max(most, n), least_time += 1 + longest[launch];
            CHECK(many.sms_used() == most);
            CHECK(many.ticks() == least_time);
            for (const Index launch : one_by_one) blocks.erase(launch);
            most = 0;
            for (const auto& [launch, n] : blocks) most = std::max(most, n);
            if (most > 1) CHECK(two.ticks() < one.ticks());
            if (most > 2) CHECK(many.ticks() < two.ticks());
        }
}

TEST_CASE("a turn is an operation with the tiles made for it and those given back before it", "[schedule]") {
    Gpu gpu(small_gpu(), numeric_mode, 1);
    Trace trace(gpu);
    gpu.listen(trace);
    const Hbm x = add(gpu, "X", random_matrix(4, 4, 1));
    in_block(gpu, [&](Block& b) {
        b.at(1);
        Tile t = b.load(x, {0, 4}, Space::registers);
        b.at(2);  // only allocates tiles
        Tile m = b.alloc_registers("m", 4, 1);
        Tile l = b.alloc_registers("l", 4, 1);
        b.at(3);
        {
            Tile c = b.alloc_registers("c", 4, 1);
            copy(b, c, m);
            row_max(b, m, t);
        }
        b.at(4);
        row_sum(b, l, t);
        b.store(t, x, {0, 4});
    });
    const std::vector<std::string> expected = {
        "launch", "block_begin load", "alloc alloc", "alloc map",
        "reduce", "release reduce",   "store",       "release release release block_end"};
    const Schedule schedule(std::move(trace), 2);
    std::vector<std::string> turns;
    for (Index tick = 1; tick <= schedule.ticks(); ++tick) {
        std::string turn;
        for (Index k = schedule.steps_after(tick - 1); k < schedule.steps_after(tick); ++k)
            turn += (turn.empty() ? "" : " ") + std::string(name_of(schedule.trace()[k].event.kind()));
        turns.push_back(turn);
    }
    CHECK(turns == expected);
}

TEST_CASE("random programs run side by side as one after the other", "[schedule]") {
    int played = 0;
    for (unsigned seed = 0; played < 40; ++seed) {
        Gpu counted(small_gpu(), count_mode, 1);
        RandomProgram(seed).run(counted);
        if (counted.total().thread_blocks > 200) continue;
        Gpu gpu(small_gpu(), numeric_mode, 1);
        Trace before(gpu);
        gpu.listen(before);
        RandomProgram(seed).run(gpu);
        if (before.size() > 5000) continue;
        ++played;
        const Index sms = machine_sizes[seed % 4];
        CAPTURE(seed, sms);
        const Schedule schedule(Trace(before), sms);
        CHECK(same_steps_in_every_block(before, schedule.trace()) == "");
        CHECK(wrong(schedule, sms) == "");
        CHECK(wrong_order(schedule, sms) == "");
        CHECK(wrong_memory(schedule, small_gpu()) == "");
        CHECK(wrong_result(before, schedule.trace()) == "");
        CHECK(wrong_regions(schedule.trace()) == "");
    }
}

TEST_CASE("recordings that were cut short are scheduled as far as they go", "[schedule]") {
    const Case c = small_cases()[1];
    for (const Algorithm& a : algorithms()) {
        const Index all = recorded(a, c, toy(2)).size();
        for (const Index events : {Index{0}, Index{1}, Index{2}, Index{3}, all / 3, all / 2, all - 1})
            for (const Index sms : machine_sizes) {
                INFO(to_string(a, c) << " --gpu toy --sms " << sms << ", " << events << " events");
                const Trace before = recorded(a, c, toy(sms), {.max_events = events});
                CHECK(before.size() == events);
                const Schedule schedule(Trace(before), sms);
                CHECK(same_steps_in_every_block(before, schedule.trace()) == "");
                CHECK(wrong(schedule, sms) == "");
                CHECK(wrong_order(schedule, sms) == "");
                CHECK(wrong_result(before, schedule.trace()) == "");
                CHECK(wrong_regions(schedule.trace()) == "");
            }
    }
}

TEST_CASE("recordings of chosen thread blocks are scheduled as if there were no others", "[schedule]") {
    const Case c = small_cases()[1];
    for (const Algorithm& a : algorithms())
        for (const std::vector<Index>& blocks : {std::vector<Index>{0}, {1}, {0, 2}, {5, 2, 1}, {1000}}) {
            INFO(to_string(a, c));
            const Trace before = recorded(a, c, toy(2), {.blocks = blocks});
            const Schedule schedule(Trace(before), 2);
            CHECK(same_steps_in_every_block(before, schedule.trace()) == "");
            CHECK(wrong(schedule, 2) == "");
            CHECK(wrong_order(schedule, 2) == "");
            CHECK(wrong_regions(schedule.trace()) == "");
            CHECK(schedule.sms_used() <= static_cast<Index>(blocks.size()));
        }
}

TEST_CASE("an empty recording takes no ticks", "[schedule]") {
    Gpu gpu(small_gpu(), numeric_mode, 1);
    const Schedule schedule(Trace(gpu), 4);
    CHECK(schedule.ticks() == 0);
    CHECK(schedule.steps_after(0) == 0);
    CHECK(schedule.sms_used() == 0);
    CHECK(schedule.placements().empty());
    CHECK(schedule.at(0, 0) == nullptr);
    CHECK(schedule.at(0, 1) == nullptr);
    CHECK(schedule.trace().size() == 0);
}

TEST_CASE("before the first tick and after the last no SM is busy", "[schedule]") {
    const Schedule schedule(recorded(*find_algorithm("standard"), small_cases()[0], toy(2)), 2);
    for (Index sm = 0; sm < 4; ++sm) {
        CHECK(schedule.at(sm, 0) == nullptr);
        CHECK(schedule.at(sm, 1) == nullptr);  // tick 1 is the launch
        CHECK((schedule.at(sm, 2) != nullptr) == (sm < 2));
        CHECK(schedule.at(sm, schedule.ticks() + 1) == nullptr);
    }
}

TEST_CASE("a recording in another order lists its regions in that order", "[trace]") {
    const Case c = small_cases()[1];
    for (const Algorithm& a : algorithms()) {
        INFO(to_string(a, c));
        const Trace before = recorded(a, c, toy(2));
        CHECK(wrong_regions(before) == "");
        // The blocks of each launch in reverse order.
        std::vector<Index> order(static_cast<std::size_t>(before.size()));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](Index x, Index y) {
            const Step &p = before[x], &q = before[y];
            if (p.launch != q.launch) return p.launch < q.launch;
            const bool launch_p = p.event.kind() == Kind::launch, launch_q = q.event.kind() == Kind::launch;
            if (launch_p != launch_q) return launch_p;
            return p.event.block > q.event.block;
        });
        const Trace after = Trace(before).reordered(order);
        CHECK(same_steps_in_every_block(before, after) == "");
        CHECK(wrong_regions(after) == "");
        if (in_turn(before).empty()) CHECK(wrong_result(before, after) == "");  // else the order changes the result
        CHECK(after.launches() == before.launches());
        CHECK(after.tiles() == before.tiles());
        CHECK(after.value_bytes() == before.value_bytes());
    }
}

TEST_CASE("thread blocks go where they are said to stay, in the order of their starts", "[schedule]") {
    const GpuSpec gpu = toy(4);
    const Trace before = recorded(*find_algorithm("flash_v2"), small_cases()[0], gpu);
    const auto blocks = static_cast<Index>(before.blocks().size());
    REQUIRE(blocks >= 2);
    // The last block starts first, and all but one share an SM.
    const auto stays = [&](Index, Index block) {
        return std::optional(Stay{block == 1 ? 0u : 3u, static_cast<double>(blocks - block), 1e3});
    };
    const Schedule schedule(Trace(before), gpu.sms, stays);
    CHECK(wrong(schedule, gpu.sms) == "");
    CHECK(same_steps_in_every_block(before, schedule.trace()) == "");
    CHECK(schedule.sms_used() == 4);
    Index tick = schedule.placement_of(0, blocks - 1)->first_tick;
    for (Index b = blocks; b-- > 0;) {
        const Placement& p = *schedule.placement_of(0, b);
        CHECK(p.sm == (b == 1 ? 0 : 3));
        if (b == 1) continue;
        CHECK(p.first_tick == tick);
        tick = p.last_tick;
    }
    // Where one stay is not known, blocks are placed as without stays.
    const Schedule unknown(Trace(before), gpu.sms,
                           [&](Index l, Index b) { return b == 0 ? std::nullopt : stays(l, b); });
    CHECK(wrong_order(unknown, gpu.sms) == "");
}
