#include "lab/model/laned.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "algorithms/contract/feature_names.hpp"
#include "algorithms/contract/roles.hpp"
#include "core/machine/parallel.hpp"
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

/// What a calibration measures of lanes, and the constant that it stands for.
constexpr std::pair<std::optional<double> GpuSpec::*, double LaneConstants::*> measured_constants[] = {
    {&GpuSpec::wgmma_flops_per_clk, &LaneConstants::tensor},
    {&GpuSpec::wgmma_notice_clk, &LaneConstants::notices},
    {&GpuSpec::beside_wgmma, &LaneConstants::beside},
    {&GpuSpec::full_rate_beside_wgmma, &LaneConstants::beside_dense},
    {&GpuSpec::full_rate_steals, &LaneConstants::steals},
    {&GpuSpec::barrier_clk, &LaneConstants::barrier},
    {&GpuSpec::mbarrier_clk, &LaneConstants::slot_notices},
    {&GpuSpec::row_shuffles_clk, &LaneConstants::shuffles},
    {&GpuSpec::bulk_latency_clk, &LaneConstants::latency},
    {&GpuSpec::bulk_port_bytes_per_clk, &LaneConstants::port},
    {&GpuSpec::bulk_bytes_per_clk, &LaneConstants::lonely_bus},
    {&GpuSpec::bulk_by_4_bytes_per_clk, &LaneConstants::bus_of_4},
    {&GpuSpec::bulk_by_8_bytes_per_clk, &LaneConstants::bus},
};

LaneConstants constants_on(const GpuSpec& gpu) {
    LaneConstants c;
    c.tensor = gpu.tensor_flops_per_clk;
    for (const auto& [measured, constant] : measured_constants) c.*constant = (gpu.*measured).value_or(c.*constant);
    return c;
}

LaneConstants constants_on(const GpuSpec& gpu, const Outside& outside) {
    LaneConstants c = constants_on(gpu);
    c.bus = outside.sharing >= 8 ? c.bus : outside.sharing >= 4 ? c.bus_of_4 : c.lonely_bus;
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
using LawKey = std::array<double, 56>;
LawKey key_of(const Experiment& e, Index blocks, const Outside& outside) {
    const Problem p = of_steps(e, 1);
    const Tiling& t = e.tiling;
    const GpuSpec& g = e.gpu;
    LawKey key{};
    std::size_t n = 0;
    const auto add = [&](auto... values) { ((key[n++] = static_cast<double>(values)), ...); };
    add(t.br, t.bc, t.slots, t.warpgroups, t.turns, t.overlap, t.specialised, t.cluster, t.persistent, t.like);
    std::uint32_t used = 0;  // a bit for each feature, because each may change the program
    for (const Feature f : all_features) used = 2 * used + (p.uses(f) ? 1 : 0);
    add(p.dim, p.dim_v, static_cast<int>(p.query_type()), static_cast<int>(p.key_type()), used, p.bias.terms.size());
    add(static_cast<int>(p.scales), p.scale_block, p.p_scale != 1, p.stale_max != 0, p.sum_bits.value_or(-1));
    add(e.problem.mask.hides(), e.problem.mask.is_causal(), blocks, outside.missed);
    add(g.fp32_lanes, g.exp_per_clk, g.sram_bytes_per_clk.value_or(0), g.registers_per_sm);
    const LaneConstants c = constants_on(g, outside);
    add(c.dram);
    for (const auto& [_, constant] : measured_constants) add(c.*constant);
    return key;
}

constexpr Index steps_of_law = 8, more_steps = 16;

/// A law, and the cycles of tiles of fewer steps than it holds for, once they are asked for.
class KeptLaw {
  public:
    explicit KeptLaw(TileLaw made) : law(std::move(made)) {}
    const TileLaw law;

    /// `play` returns the cycles where they are not known.
    template <class F>
    double few(Index steps, F&& play) const {
        double& kept = few_[static_cast<std::size_t>(steps)];
        {
            const Lock lock(mutex_);
            if (kept > 0) return kept;
        }
        const double cycles = play();
        const Lock lock(mutex_);
        return kept = cycles;
    }

  private:
    mutable Mutex mutex_;
    mutable std::array<double, steps_of_law> few_{};
};

/// Calls `make` for a key that is new, and keeps the law that it returns.
template <class Make>
const KeptLaw& kept(const LawKey& key, Make&& make) {
    static Mutex mutex;
    static std::map<LawKey, KeptLaw> all;
    {
        const Lock lock(mutex);
        if (const auto found = all.find(key); found != all.end()) return found->second;
    }
    TileLaw made = make();
    const Lock lock(mutex);
    return all.try_emplace(key, std::move(made)).first->second;
}

/// A kernel and what it meets: what is played.
struct Played {
    const Experiment& e;
    LanedKernel kernel;
    Outside outside;

    std::shared_ptr<LanePrograms> of(Index steps) const { return programs_of(e, kernel, steps, tiles_of_law, outside); }
    const KeptLaw& law() const {
        return kept(key_of(e, kernel.blocks, outside),
                    [&] { return law_of(*of(steps_of_law), steps_of_law, *of(more_steps), more_steps); });
    }
    double cycles(Index steps) const {
        const TileCycles tile = cycles_of_tile(*of(steps));
        return kernel.persistent || kernel.blocks > 1 ? tile.tile : tile.first;
    }
};

constexpr double start_of_block = 1500, start_of_persistent = 3000;  // cycles until a thread block begins, and its end

constexpr double of_an_h100 = 1980;  // MHz, at most: GpuSpec::clock_mhz

/// A point of a clock that falls with the share of a step in which tensor cores work.
struct ClockPoint {
    double share, mhz;
};
// Measured on an H200 in the first 20 ms of work after idling: products with pauses, and a softmax beside them, on
// random numbers (docs/measured/h200/forward/clock.csv). Launches of 0.2 and of 1 ms; the ends are carried on.
constexpr ClockPoint of_short_launches[] = {{0, 1980},     {0.05, 1760},  {0.149, 1761}, {0.358, 1772}, {0.551, 1746},
                                            {0.613, 1726}, {0.659, 1723}, {0.694, 1714}, {0.72, 1701},  {0.745, 1691},
                                            {0.759, 1679}, {0.786, 1668}, {0.807, 1659}, {0.828, 1648}, {0.862, 1635},
                                            {0.88, 1620},  {0.906, 1600}, {1, 1560}};
constexpr ClockPoint of_long_launches[] = {{0, 1980},     {0.05, 1790},  {0.149, 1790}, {0.358, 1793}, {0.552, 1786},
                                           {0.609, 1782}, {0.668, 1775}, {0.703, 1752}, {0.735, 1733}, {0.75, 1715},
                                           {0.768, 1698}, {0.79, 1684},  {0.801, 1679}, {0.82, 1667},  {0.836, 1654},
                                           {0.873, 1635}, {0.906, 1610}, {1, 1570}};
double clock_at(double share, std::span<const ClockPoint> points) {
    for (std::size_t k = 1; k < points.size(); ++k)
        if (const ClockPoint& a = points[k - 1], &b = points[k]; share <= b.share)
            return a.mhz + (b.mhz - a.mhz) * (share - a.share) / (b.share - a.share);
    return points.back().mhz;
}

}  // namespace

namespace {

/// Whether the kernel is one of wgmma and bulk copies.
bool runs_on_lanes(const Experiment& e) {
    constexpr double hopper = 9, blackwell = 10;
    const double capability = text::to_number(e.gpu.compute_capability).value_or(0);
    return e.algorithm->kernel->laned && style_of(e) == Style::tensor_cores && capability >= hopper &&
           capability < blackwell;
}

/// Whether K and V have 8 bits and Q more: they would have to be widened on the way to wgmma.
bool is_widened(const Problem& p) { return size_of(p.key_type()) == 1 && size_of(p.query_type()) > 1; }

}  // namespace

bool has_timed_lanes(const Experiment& e) { return runs_on_lanes(e) && !is_widened(e.problem); }

std::string untimed(const Experiment& e) {
    return runs_on_lanes(e) && is_widened(e.problem) ? message("laned.not_in_8_bits", e.algorithm->name) : "";
}

Tiling with_roles(const Experiment& e) {
    const auto complete = e.algorithm->kernel->complete;
    return complete ? complete(e.problem, e.tiling, e.gpu) : e.tiling;
}

StepTime LanedTimes::step() const {
    const TileLaw& alone = laws.front();
    const auto further = static_cast<double>(laws.size() - 1);
    StepTime s;
    s.alone = longer * alone.step + more;
    s.overlapped = true;
    s.busiest = further > 0 ? std::max(0.0, laws.back().step - alone.step) / further : 0;
    const auto busy = [&](Unit u, double cycles) { s.busy[static_cast<std::size_t>(u)] = cycles; };
    busy(Unit::tensor, alone.busy.tensor), busy(Unit::exp, alone.busy.exp);
    busy(Unit::alu, alone.busy.cuda), busy(Unit::l2, alone.busy.bus);
    return s;
}

double LanedTimes::fixed(double steps) const {
    const TileLaw& l = laws.back();
    const auto n = static_cast<Index>(steps);
    const double beside_steps =
        n >= 1 && n < steps_of_law ? few(n) - static_cast<double>(n) * l.step : l.own_tile(0, kernel);
    return (kernel.persistent ? 0 : start_of_block) + std::max(0.0, beside_steps);
}

double LanedTimes::start() const {
    const TileLaw& l = laws.back();
    return kernel.persistent ? start_of_persistent + std::max(0.0, l.first - l.fixed) : start_of_block;
}

Index sharing_of(const Experiment& e) {
    const Problem& p = e.problem;
    return p.mask.hides() ? 1 : ceil_div(p.seq_q, e.tiling.br) * (p.heads / p.kv_heads);
}

Clock clock_beside(double tensor_share, double cycles, const GpuSpec& gpu) {
    constexpr double launches_before = 11, free_us = 20e3, until_limit_us = 60e3, short_us = 200, long_us = 1000;
    const double brief = clock_at(tensor_share, of_short_launches), lasting = clock_at(tensor_share, of_long_launches);
    const double us = cycles / lasting, part = std::clamp((us - short_us) / (long_us - short_us), 0.0, 1.0);
    const double free = brief + (lasting - brief) * part;
    const double limited = std::min(lasting, 1900 - 500 * tensor_share);  // by power, after some 20 to 80 ms
    const double weight = std::clamp((launches_before * us - free_us) / until_limit_us, 0.0, 1.0);
    const double scale = gpu.clock_mhz / of_an_h100;
    return {(free * (1 - weight) + limited * weight) * scale, limited * scale};
}

LanedTimes laned_times(const Experiment& e, Index blocks_on_sm, const Outside& given) {
    constexpr double hundredths = 100, under_a_mask = 1.02;  // counted: every step of a masked kernel is 2% longer
    Outside outside = given;
    outside.missed = std::round(hundredths * std::min(1.0, given.missed)) / hundredths;
    outside.dram = outside.missed > 0 ? given.dram : 0;
    LanedTimes times{{}, e.algorithm->kernel->laned(e.problem, e.tiling, e.gpu)};
    Played played{e, times.kernel, outside};
    const KeptLaw* law = nullptr;
    for (Index r = 1; r <= blocks_on_sm; ++r) {
        times.kernel.blocks = played.kernel.blocks = r;
        law = &played.law();
        times.laws.push_back(law->law);
    }
    times.few = [played, law](Index steps) { return law->few(steps, [&] { return played.cycles(steps); }); };
    const bool masked = e.problem.mask.hides();
    times.longer = masked ? under_a_mask : 1;
    times.more = !masked && e.problem.seq_k % e.tiling.bc != 0 ? times.kernel.ragged : 0;
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
    if (e.tiling.slots >= enough * kernel.pieces) return;
    try {
        const auto programs = programs_of(e, kernel, steps, tiles, {});
        play_lanes(programs->programs(), programs->machine());
    } catch (const Stuck& stuck) {
        const bool turns = e.tiling.turns == on && e.tiling.slots >= kernel.pieces;
        throw UsageError(message(turns ? "laned.stuck_with_turns" : "laned.stuck", std::to_string(e.tiling.slots),
                                 std::to_string(2 * kernel.pieces), stuck.what()));
    }
}

}  // namespace tilescope::lab
