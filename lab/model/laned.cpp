#include "lab/model/laned.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <mutex>

#include "algorithms/contract/roles.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/time/lane_programs.hpp"
#include "core/time/rates.hpp"
#include "lab/model/style.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// A problem of one head and one row tile that sees all of `steps` full key tiles, in the head dimensions that the
/// kernel computes.
Problem of_steps(const Experiment& e, Index steps) {
    Problem p = e.problem;
    p.batch = p.heads = p.kv_heads = p.packed = p.bias.group = 1;
    p.seq_q = e.tiling.br, p.seq_k = steps * e.tiling.bc;
    p.mask = {};
    if (const auto padded = e.algorithm->kernel->padded)
        p.dim = padded(p.dim, e.tiling), p.dim_v = padded(p.dim_v, e.tiling);
    return p;
}

/// Rates of bare instructions. LanedKernel::sigma says how far compiled ones are from them.
Rates bare_rates(const GpuSpec& gpu) {
    Rates r = rates_of(gpu);
    r.fma = gpu.fp32_lanes, r.half = r.fma / 2;
    return r;
}

LaneConstants constants_on(const GpuSpec& gpu, const Outside& outside) {
    LaneConstants c;
    c.tensor = gpu.tensor_flops_per_clk;
    c.lone = 1, c.late = 1.46, c.lone_cols = 192, c.slot_notices = 59;
    if (outside.dram > 0) c.dram = outside.dram;
    return c;
}

std::shared_ptr<LanePrograms> programs_of(const Experiment& e, LanedKernel kernel, Index steps, Index tiles,
                                          const Outside& outside) {
    kernel.misses = outside.missed;
    auto programs = std::make_shared<LanePrograms>(bare_rates(e.gpu), constants_on(e.gpu, outside), kernel, tiles);
    GpuSpec roomy = e.gpu;  // padded head dimensions take more than the real ones
    roomy.sram_per_block = std::max(roomy.sram_per_block, 4 * e.gpu.sram_per_block);
    roomy.registers_per_sm = std::max(roomy.registers_per_sm, 4 * e.gpu.registers_per_sm);
    Gpu gpu(roomy, exact_mode, 1);
    gpu.listen(*programs);
    run_program(gpu, *e.algorithm, of_steps(e, steps), e.tiling, {});
    return programs;
}

/// All that a law depends on.
using LawKey = std::array<double, 36>;
LawKey key_of(const Experiment& e, Index blocks, const Outside& outside) {
    const Problem p = of_steps(e, 1);
    const Tiling& t = e.tiling;
    const GpuSpec& g = e.gpu;
    LawKey key{};
    std::size_t n = 0;
    const auto add = [&](auto... values) { ((key[n++] = static_cast<double>(values)), ...); };
    add(t.br, t.bc, t.slots, t.warpgroups, t.turns, t.overlap, t.specialised, t.cluster, t.persistent, t.like);
    add(p.dim, p.dim_v, static_cast<int>(p.dtype), p.soft_cap.has_value(), p.bias.terms.size(), p.alibi > 0);
    add(e.problem.mask.hides(), e.problem.mask.is_causal(), blocks, outside.missed, outside.dram);
    add(g.tensor_flops_per_clk, g.fp32_lanes, g.exp_per_clk, g.sram_bytes_per_clk.value_or(0), g.registers_per_sm);
    return key;
}

TileLaw new_law(const Experiment& e, Index blocks, const Outside& outside) {
    constexpr Index steps = 8, more = 16;
    LanedKernel kernel = e.algorithm->kernel->laned(e.problem, e.tiling, e.gpu);
    kernel.blocks = blocks;
    const auto few = programs_of(e, kernel, steps, tiles_of_law, outside),
               many = programs_of(e, kernel, more, tiles_of_law, outside);
    return law_of(*few, steps, *many, more);
}

TileLaw law(const Experiment& e, Index blocks, const Outside& outside) {
    static std::mutex mutex;
    static std::map<LawKey, TileLaw> known;
    const LawKey key = key_of(e, blocks, outside);
    {
        const std::lock_guard lock(mutex);
        if (const auto found = known.find(key); found != known.end()) return found->second;
    }
    TileLaw made = new_law(e, blocks, outside);
    const std::lock_guard lock(mutex);
    return known.emplace(key, std::move(made)).first->second;
}

constexpr double start_of_block = 1500, start_of_persistent = 2600;  // cycles until a thread block begins, and its end

constexpr double of_an_h100 = 1980;  // MHz, at most: GpuSpec::clock_mhz

/// MHz before power limits the clock, by the share of a step in which tensor cores work. Measured on an H200 in the
/// first 20 ms of work after idling, with a microbenchmark of that duty on random numbers.
double free_clock(double share) {
    struct Point {
        double share, mhz;
    };
    static constexpr Point points[] = {{0, 1980},    {0.05, 1790}, {0.27, 1780}, {0.45, 1775},
                                       {0.69, 1750}, {0.80, 1660}, {0.93, 1610}, {1, 1600}};
    for (std::size_t k = 1; k < std::size(points); ++k)
        if (const Point& a = points[k - 1], &b = points[k]; share <= b.share)
            return a.mhz + (b.mhz - a.mhz) * (share - a.share) / (b.share - a.share);
    return points[std::size(points) - 1].mhz;
}

}  // namespace

bool has_timed_lanes(const Experiment& e) {
    constexpr double hopper = 9, blackwell = 10;
    const double capability = text::to_number(e.gpu.compute_capability).value_or(0);
    return e.algorithm->kernel->laned && style_of(e) == Style::tensor_cores && capability >= hopper &&
           capability < blackwell;
}

StepTime LanedTimes::step() const {
    const TileLaw& alone = laws.front();
    const auto more = static_cast<double>(laws.size() - 1);
    StepTime s;
    s.alone = alone.step;
    s.busiest = more > 0 ? std::max(0.0, laws.back().step - alone.step) / more : 0;
    const auto busy = [&](Unit u, double cycles) { s.busy[static_cast<std::size_t>(u)] = cycles; };
    busy(Unit::tensor, alone.busy.tensor), busy(Unit::exp, alone.busy.exp);
    busy(Unit::alu, alone.busy.cuda), busy(Unit::l2, alone.busy.bus);
    return s;
}

double LanedTimes::fixed() const {
    const TileLaw& l = laws.back();
    return kernel.persistent ? l.fixed : start_of_block + l.own_tile(0, kernel);
}

double LanedTimes::start() const {
    const TileLaw& l = laws.back();
    return kernel.persistent ? start_of_persistent + std::max(0.0, l.first - l.fixed) : start_of_block;
}

double clock_beside(double tensor_share, double cycles, const GpuSpec& gpu) {
    constexpr double launches_before = 11, free_us = 20e3, until_limit_us = 60e3;
    const double free = free_clock(tensor_share), limited = std::min(free, 1900 - 500 * tensor_share);
    const double worked_us = launches_before * cycles / free;
    const double weight = std::clamp((worked_us - free_us) / until_limit_us, 0.0, 1.0);
    return (free * (1 - weight) + limited * weight) * gpu.clock_mhz / of_an_h100;
}

LanedTimes laned_times(const Experiment& e, Index blocks_on_sm, const Outside& outside) {
    constexpr double hundredths = 100;
    const double missed = std::round(hundredths * std::min(1.0, outside.missed)) / hundredths;
    LanedTimes times{{}, e.algorithm->kernel->laned(e.problem, e.tiling, e.gpu)};
    times.kernel.blocks = blocks_on_sm;
    for (Index r = 1; r <= blocks_on_sm; ++r) times.laws.push_back(law(e, r, {missed, missed > 0 ? outside.dram : 0}));
    return times;
}

PlayedLanes played_lanes(const Experiment& e, Index steps, Index tiles) {
    const LanedKernel kernel = e.algorithm->kernel->laned(e.problem, e.tiling, e.gpu);
    const auto programs = programs_of(e, kernel, steps, tiles, {});
    return {programs->programs(), play_lanes(programs->programs(), programs->machine(), true), programs};
}

void check_lanes_go_on(const Experiment& e) {
    constexpr Index enough = 4, steps = 3, tiles = 2;  // four whole tiles or more: nobody waits for a slot in use
    if (!e.algorithm->kernel->laned) return;
    const LanedKernel kernel = e.algorithm->kernel->laned(e.problem, e.tiling, e.gpu);
    if (kernel.slots >= enough * kernel.pieces) return;
    try {
        const auto programs = programs_of(e, kernel, steps, tiles, {});
        play_lanes(programs->programs(), programs->machine());
    } catch (const Stuck& stuck) {
        const bool turns = e.tiling.turns == on && kernel.slots >= kernel.pieces;
        throw UsageError(message(turns ? "laned.stuck_with_turns" : "laned.stuck", std::to_string(e.tiling.slots),
                                 std::to_string(2 * kernel.pieces), stuck.what()));
    }
}

}  // namespace tilescope::lab
