#include "lab/model/timing.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "algorithms/contract/kernel_description.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "lab/model/dram.hpp"
#include "lab/model/full_tiles.hpp"
#include "lab/model/registers.hpp"
#include "lab/model/timed_launch.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr Index most_warps = 8;           // of a tensor-core kernel: the most of released and of measured ones
constexpr Index most_of_a_block = 32;     // warps of any kernel
constexpr double most_of_the_time = 0.6;  // a unit that is busy for at least this share is the limit

/// On tensor cores: see ShortTiles.
bool is_short(const Experiment& e) { return e.tiling.br <= e.algorithm->kernel->short_tiles.rows; }

Index warps_on_cuda_cores(Index rows) { return std::max<Index>(1, rows / 16); }

/// `held`: the most rows and the most registers of launches with products.
Kernel kernel_of(const Experiment& e, const Held& held) {
    const KernelDescription& d = *e.algorithm->kernel;
    Kernel k{.style = style_of(e), .rows = held.rows, .places = d.places, .together = d.together};
    k.looks_up = e.problem.mask.hides() && !e.problem.mask.is_causal();
    if (k.style == Style::cuda_cores)
        k.warps = warps_on_cuda_cores(held.rows);
    else if (const Index side = d.tiled.warp; side > 0)
        k.tiled = d.tiled, k.warps = std::min(ceil_div(held.rows, side) * ceil_div(e.tiling.bc, side), most_of_a_block);
    else if (is_short(e))
        k.own_softmax = true;
    else if (d.keys_of_warp > 0)
        k.warps = std::max<Index>(1, e.tiling.bc / d.keys_of_warp), k.own_keys = true;
    else  // Twice the warps where four could not keep the tiles in registers, as long as each has 16 rows.
        while (tensor_core_registers(e, k.warps, held).spills && k.warps < most_warps &&
               held.rows / (2 * k.warps) >= 16)
            k.warps *= 2;
    return k;
}

class Run {
  public:
    /// `outline`: of the same run as `counted`.
    Run(const Report& counted, const Outline& outline, const TimingOptions& options)
        : counted_(counted),
          e_(counted.experiment),
          full_(full_tiles(e_)),
          outline_(outline),
          kernel_(kernel_of(full_.experiment, held_by_products())),
          rates_(rates_of(e_.gpu)),
          dram_(counted, outline, options.l2 ? DramModel::most_visits : 0),
          played_(options.played),
          most_stays_(options.most_stays),
          registers_from_(options.registers) {}

    RunTime time() {
        RunTime out;
        out.style = kernel_.style;
        for (std::size_t k = 0; k < outline_.launches().size(); ++k) out.launches.push_back(time(k));
        const bool compiled =
            std::all_of(out.launches.begin(), out.launches.end(), [](const LaunchTime& l) { return l.compiled; });
        const bool measured = was_measured(e_.gpu);
        if (measured && compiled && beyond_kernels(e_.problem).empty())
            out.error = e_.algorithm->kernel->stated_error(kernel_.style);
        out.basis = out.error ? Basis::own_style : measured ? Basis::other_style : Basis::assumed;
        out.no_dram = dram_.why_not();
        out.without_lanes = std::any_of(outline_.launches().begin(), outline_.launches().end(),
                                        [](const LaunchOutline& l) { return l.has_lanes; });
        const auto without_room = std::find_if(out.launches.begin(), out.launches.end(),
                                               [](const LaunchTime& l) { return l.residency.blocks == 0; });
        if (without_room != out.launches.end())
            out.no_room = message("timing.no_room", without_room->kernel, without_room->warps, e_.gpu.name,
                                  std::to_string(e_.gpu.max_warps_per_sm));
        return out;
    }

    std::vector<Occupancy> occupancy() const {
        std::vector<Occupancy> out;
        for (std::size_t k = 0; k < outline_.launches().size(); ++k) out.push_back(occupancy(k));
        return out;
    }

  private:
    /// What a full thread block of a launch holds on chip.
    LaunchInfo held_on_chip(std::size_t k) const {
        LaunchInfo info = counted_.launches[k];
        if (!full_.counted || full_.counted->launches.size() <= k) return info;
        info.sram_peak = std::max(info.sram_peak, full_.counted->launches[k].sram_peak);
        info.register_peak = std::max(info.register_peak, full_.counted->launches[k].register_peak);
        return info;
    }
    /// Rows of a full thread block's tile of the grid; where the grid has no such tiles, of a loop's tile.
    Index full_rows(const LaunchOutline& launch) const {
        const Tiling &cut = e_.tiling, &full = full_.experiment.tiling;
        if (launch.axes.size() < 2) return full.br;
        const Tiles& tiles = launch.axes[1].tiles;
        const Index rows = tiles.tile_size();
        const bool of_keys = rows == cut.bc && (rows != cut.br || std::string_view(tiles.name()) == "j");
        return of_keys ? full.bc : rows == cut.br ? full.br : rows;
    }
    /// Rows of all row tiles that a full thread block works on together; 0 where it has no products of them.
    Index rows_together(const LaunchOutline& launch) const {
        Index most = 0;
        for (const BlockOutline& b : launch.blocks) {
            const Index rows = rows_at_once(b);
            const bool all = rows > 0 && (b.at.size() < 2 ? rows <= full_rows(launch) : rows == b.at[1].size);
            most = std::max(most, all ? full_rows(launch) : rows);
        }
        return most;
    }
    /// The most rows, and the most registers, of all launches with products.
    Held held_by_products() const {
        Held held;
        for (std::size_t k = 0; k < outline_.launches().size(); ++k)
            if (const Index rows = rows_together(outline_.launches()[k]); rows > 0)
                held = {std::max(held.rows, rows), std::max(held.registers, held_on_chip(k).register_peak)};
        return held.rows > 0 ? held : Held{full_.experiment.tiling.br, 0};
    }

    Registers registers(const LaunchOutline& launch, Index warps, const Held& held) const {
        return registers_from_ == RegistersFrom::rule ? estimated_registers(full_.experiment, launch, warps, held)
                                                      : registers_of(full_.experiment, launch, warps, held);
    }
    /// Tensor cores multiply no f32: a launch with f32 products runs on CUDA cores, whatever the others do.
    Style style_of_launch(const LaunchOutline& launch) const {
        return launch.multiplies_f32 ? Style::cuda_cores : kernel_.style;
    }
    /// The kernel of a launch. A launch without products has as many warps as its tiles need.
    Kernel kernel_of_launch(std::size_t k) const {
        const LaunchOutline& launch = outline_.launches()[k];
        const Index rows = rows_together(launch), full = full_rows(launch);
        Kernel kernel = kernel_;
        if (const Style style = style_of_launch(launch); style != kernel_.style)
            kernel = {.style = style, .warps = warps_on_cuda_cores(rows), .places = kernel_.places};
        kernel.rows = rows > 0 && !kernel.own_keys ? rows : full;
        if (launch.axes.size() > 1)
            kernel.owning = static_cast<double>(launch.axes[1].tiles[0].size) / static_cast<double>(full);
        const Held held{kernel_.rows, held_on_chip(k).register_peak};
        while (rows == 0 && 2 * kernel.warps <= most_of_a_block && 4 * 255 * 32 * kernel.warps < held.registers &&
               !registers(launch, kernel.warps, held).compiled)
            kernel.warps *= 2;
        return kernel;
    }

    Occupancy occupancy(std::size_t k) const {
        const LaunchOutline& launch = outline_.launches()[k];
        const LaunchInfo on_chip = held_on_chip(k);
        const Index warps = kernel_of_launch(k).warps;
        const Registers r = registers(launch, warps, {kernel_.rows, on_chip.register_peak});
        Bytes shared = on_chip.sram_peak + staged(launch);
        if (kernel_.own_softmax && shared > 0) shared = std::max(shared, e_.algorithm->kernel->short_tiles.shared);
        BlockNeeds needs = {shared, warps, r.per_thread, r.compiled ? 0 : on_chip.register_peak};
        if (const Index on_sm = kernel_.tiled.warps_on_sm; on_sm > 0) {  // SRAM has pieces of operands, no tiles
            constexpr Index bytes_of_a_warp = 32 * 4;
            needs.shared = needs.tiles = 0;
            needs.registers = std::min(needs.registers, e_.gpu.registers_per_sm / (on_sm * bytes_of_a_warp));
        }
        Occupancy o{residency(needs, e_.gpu), warps, needs.registers, r.compiled, r.spills};
        if (const Index most = e_.placing.blocks_per_sm; most > 0 && most < o.residency.blocks)
            o.residency = {most, ResidencyLimit::asked};
        return o;
    }
    /// Bytes: on CUDA cores, the first operand of a product passes through shared memory if it is in registers.
    Bytes staged(const LaunchOutline& launch) const {
        double most = 0;
        if (style_of_launch(launch) == Style::cuda_cores)
            for (const BlockOutline& b : launch.blocks)
                for (const Passage& p : b.passages)
                    for (const Deed& d : p.deeds)
                        if (d.kind() == Kind::product && !d.reads[0].in_sram())
                            most = std::max(most, 4 * d.reads[0].size());
        return static_cast<Bytes>(most);
    }

    /// A tenth where a launch starts up while the one before still runs (programmatic dependent launch): its thread
    /// blocks are resident by then, and continue after the last write of the launch before.
    double launch_us(std::size_t k) const {
        constexpr double hopper = 9, of_a_launch = 0.1;
        const bool can = text::to_number(e_.gpu.compute_capability).value_or(0) >= hopper;
        return k > 0 && e_.algorithm->kernel->overlaps && can ? of_a_launch * rates_.launch_us : rates_.launch_us;
    }

    LaunchTime time(std::size_t k) {
        LaunchTime t;
        t.kernel = outline_.launches()[k].kernel;
        const double launching = launch_us(k);
        if (played_) played_->emplace_back().launch_us = launching;
        const Kernel kernel = kernel_of_launch(k);
        TimedLaunch launch(outline_.launches()[k], kernel, rates_, full_rows(outline_.launches()[k]));
        t.blocks = launch.blocks();
        const Occupancy held = occupancy(k);
        t.residency = held.residency, t.compiled = held.compiled, t.spills = held.spills;
        t.warps = held.warps, t.registers = held.registers;
        const Index slots = t.residency.blocks;
        if (slots == 0) {
            t.us = std::numeric_limits<double>::infinity();
            return t;
        }
        const auto sms = static_cast<double>(e_.gpu.sms);
        // Warps with a softmax each wait for memory, so the clock is that of a light load.
        t.clock_mhz = clock_of(
            rates_, kernel.style,
            (t.blocks <= e_.gpu.sms || kernel_.own_softmax ? 1 : slots) * std::max<Index>(1, kernel.warps / 4));
        t.waves = static_cast<double>(t.blocks) / (sms * static_cast<double>(slots));
        t.sms = static_cast<Index>(std::min<Count>(e_.gpu.sms, t.blocks));
        const Count reading = std::max<Count>(1, launch.reading());
        const double sharing = sharing_memory(reading, slots, kernel.style);
        LaunchMemory memory{share_of(sharing, t.clock_mhz, kernel.style)};
        if (launch.count(1) * launch.count(2) <= most_blocks_played) find_traffic(k, launch, kernel.style, memory, t);
        launch.take(memory);
        double cycles = 0;
        if (t.blocks > most_blocks_played) {
            cycles = launch.sum_of_cycles(slots) / (sms * static_cast<double>(slots));
            t.resident = static_cast<double>(slots);
        } else {
            cycles = play(k, launch, kernel.style, sharing, t);
        }
        t.us = cycles / t.clock_mhz + launching;
        summarise(launch, cycles, launching, t);
        return t;
    }

    /// An SM's share of L2 and DRAM; `sharing`: how many SMs share them at first.
    MemoryShare share_of(double sharing, double clock_mhz, Style style) const {
        const auto sms = static_cast<double>(e_.gpu.sms);
        const auto per_clock = [&](double gbs) { return gbs * 1e3 / clock_mhz; };
        const DramRates dram = dram_of(rates_, style);
        return {rates_.l2 / sms, per_clock(dram.read) / sms, per_clock(dram.write) / sms, 0, 0, sharing / sms};
    }

    /// How many SMs share L2 and DRAM at first. On tensor cores, where all thread blocks run at once, each block has an
    /// equal part: SMs with the most blocks have more than an SM's share, and the launch ends when they end.
    /// The constants of CUDA cores were fitted with equal shares of SMs.
    double sharing_memory(Count blocks, Index slots, Style style) const {
        const auto sms = static_cast<double>(e_.gpu.sms), all = static_cast<double>(blocks);
        if (style == Style::cuda_cores || blocks > e_.gpu.sms * slots) return std::min(sms, all);
        return all / std::ceil(all / sms);
    }

    static Refill refill(Style style) { return style == Style::tensor_cores ? Refill::packed : Refill::spread; }

    /// Finds the L2's misses, where that is possible. Thread blocks are played as if the L2 missed nothing.
    void find_traffic(std::size_t k, TimedLaunch& launch, Style style, LaunchMemory& memory, LaunchTime& t) {
        const Index slots = t.residency.blocks;
        const auto kinds = [&] {
            launch.take(memory);
            return launch.cycles(slots);
        };
        const auto traffic = dram_.of(k, kinds, slots, refill(style));
        if (!traffic) return;
        t.dram = traffic->first, t.dram_again = traffic->again;
        const Counters c = dram_.counted(k);
        const auto missed = [](Bytes dram, Bytes all) {
            return all > 0 ? static_cast<double>(dram) / static_cast<double>(all) : 0;
        };
        memory.reads_missed = missed(traffic->again.read, c.hbm_read);
        memory.first_missed = std::min(1.0, missed(traffic->again.read, traffic->first.read));
        memory.writes_missed = missed(traffic->again.written, c.hbm_sent());
    }

    /// Cycles of the thread blocks that are left once all of a launch have started: the fewer, the more of L2 and DRAM
    /// each has. For launches whose blocks see more or fewer keys; else, on tensor cores only, for the last wave
    /// of those that run in waves. The constants of CUDA cores were fitted without that.
    Among among(const TimedLaunch& launch, Style style, Index slots, double sharing) const {
        if (!launch.waits_for_memory(slots)) return {};
        if (!launch.graded() && (style == Style::cuda_cores || !launch.in_waves())) return {};
        return [&launch, slots, sharing](std::uint32_t block, Count at_work) {
            const BlockWork work = launch.work(block);
            BlockCycles cycles;
            for (Index r = 1; r <= slots; ++r)
                cycles.push_back(work.cycles_beside(r, still_shared(sharing, r, at_work)));
            return cycles;
        };
    }

    /// `sharing`: SMs that share L2 and DRAM at first.
    double play(std::size_t k, const TimedLaunch& launch, Style style, double sharing, LaunchTime& t) {
        const Index slots = t.residency.blocks;
        const bool alike = launch.all_alike(), keeps_stays = played_ && t.blocks <= most_stays_;
        const Among among = this->among(launch, style, slots, sharing);
        Timeline in_waves;
        if (alike)
            in_waves = play_alike(launch.cycles_of_first(slots), t.blocks, e_.gpu.sms, slots, refill(style), among);
        if (alike && !keeps_stays) return take(in_waves, t);
        const std::vector<Axis>& axes = outline_.launches()[k].axes;
        const std::vector<BlockOfHead> order = dispatch(axes, e_.placing.order);
        Grid grid{launch.cycles(slots), {}, 1, among, launch.graded()};
        for (const BlockOfHead& b : order) grid.sequence.push_back(b.block);
        const Timeline timeline = tilescope::play(grid, e_.gpu.sms, slots, refill(style));
        const double cycles = take(alike ? in_waves : timeline, t);
        if (keeps_stays) played_->back() = {axes, order, launch.works(), timeline, launch_us(k), sharing};
        if (alike) return cycles;
        double longest = 0, sum = 0;
        for (const std::uint32_t kind : grid.sequence)
            sum += grid.kinds[kind][0], longest = std::max(longest, grid.kinds[kind][0]);
        t.imbalance = longest / (sum / static_cast<double>(grid.sequence.size()));
        return cycles;
    }
    /// Notes what the timeline says; returns its length.
    double take(const Timeline& timeline, LaunchTime& t) const {
        t.resident = timeline.resident;
        const auto all = static_cast<double>(e_.gpu.sms * t.residency.blocks);
        t.tail = ((timeline.cycles - timeline.last_start) * all - timeline.after_start) / (timeline.cycles * all);
        return timeline.cycles;
    }

    void summarise(const TimedLaunch& launch, double cycles, double launching, LaunchTime& t) const {
        double most = -1;
        PerUnit work{};
        for (const TimedBlock& b : launch.timed_blocks())
            for (std::size_t k = 0; k < b.steps.size(); ++k) {
                const double total = static_cast<double>(b.outline->passages[k].total);
                for (std::size_t u = 0; u < unit_count; ++u) work[u] += total * b.steps[k].busy[u];
                if (const double spent = total * b.steps[k].alone; spent > most)
                    most = spent, t.step = b.steps[k], t.steps = turns_of_loop(*b.outline, k);
            }
        const double whole = t.us > launching ? cycles * static_cast<double>(e_.gpu.sms) : 1;
        for (std::size_t u = 0; u < unit_count; ++u) t.busy[u] = work[u] / whole;
        t.bound = bound_of(t, launching);
    }

    /// Iterations of a thread block in the loop of this passage, ragged ones included.
    static double turns_of_loop(const BlockOutline& b, std::size_t passage) {
        const Index loop = b.passages[passage].loop;
        Count turns = 0;
        for (const Passage& p : b.passages) turns += p.loop == loop ? p.total : 0;
        return static_cast<double>(turns) / static_cast<double>(b.blocks);
    }

    /// L2 and DRAM are the limit only of a launch that would be faster without them: in others they may be busy, but
    /// nothing waits for them.
    Bound bound_of(const LaunchTime& t, double launching) const {
        if (launching > 0.4 * t.us) return Bound::launch;
        const auto on_chip_end = static_cast<std::ptrdiff_t>(Unit::l2);
        const auto busiest = [](const PerUnit& busy, std::ptrdiff_t from, std::ptrdiff_t to) {
            return static_cast<Unit>(std::max_element(busy.begin() + from, busy.begin() + to) - busy.begin());
        };
        const bool for_memory = waits_for_memory(t);
        if (const Unit u = busiest(t.busy, 0, for_memory ? static_cast<std::ptrdiff_t>(unit_count) : on_chip_end);
            t.busy[static_cast<std::size_t>(u)] >= most_of_the_time)
            return bound_by(u);
        if (t.resident < 0.5 * static_cast<double>(t.residency.blocks)) return Bound::blocks;
        const auto r = static_cast<double>(t.residency.blocks);
        const double together = t.step.together(t.residency.blocks);
        const double memory = for_memory ? r * std::max(t.step.memory, t.step.bus) / together : 0,
                     blocked = r * t.step.residents * t.step.busiest,
                     on_chip = std::max(blocked, r * t.step.queued) / together;
        if (std::max(memory, on_chip) < most_of_the_time) return Bound::dependency;
        return memory > on_chip ? bound_by(busiest(t.step.busy, on_chip_end, static_cast<std::ptrdiff_t>(unit_count)))
                                : bound_by(busiest(t.step.busy, 0, on_chip_end));
    }
    static Bound bound_by(Unit unit) {
        return static_cast<Bound>(static_cast<int>(Bound::tensor) + static_cast<int>(unit));
    }

    const Report& counted_;
    const Experiment& e_;
    const FullTiles full_;
    const Outline& outline_;
    const Kernel kernel_;
    const Rates rates_;
    DramModel dram_;
    std::vector<PlayedLaunch>* played_;
    const Count most_stays_;
    const RegistersFrom registers_from_;
};

}  // namespace

Style style_of(const Experiment& e) {
    const bool tensor_cores = e.problem.dtype != Dtype::f32 && e.algorithm->computes->features.has(Feature::head_dims);
    return tensor_cores ? Style::tensor_cores : Style::cuda_cores;
}

Report count_and_time(const Experiment& e, Control* control, std::span<Listener* const> listeners) {
    Outline outline;
    std::vector<Listener*> all(listeners.begin(), listeners.end());
    all.push_back(&outline);
    Report r = count(e, control, all);
    set_time(r, outline);
    return r;
}

void set_time(Report& r, const Outline& outline, const TimingOptions& options) {
    r.no_time = beyond_hbm(r.experiment);
    if (!r.fits_hbm()) return;
    RunTime time = time_of(r, outline, options);
    if (time.without_lanes) r.notes.push_back(message("timing.without_lanes"));
    r.no_time = time.no_room;
    if (r.no_time.empty()) r.time = std::move(time);
}

RunTime time_of(const Report& counted, const Outline& outline, const TimingOptions& options) {
    return Run(counted, outline, options).time();
}

RunTime time_of(const Experiment& e, const TimingOptions& options, Control* control) {
    Outline outline;
    Listener* const listeners[] = {&outline};
    return time_of(count(e, control, listeners), outline, options);
}

Occupied count_and_occupy(const Experiment& e, Control* control) {
    Outline outline;
    Listener* const listeners[] = {&outline};
    Occupied o{count(e, control, listeners), {}};
    o.launches = Run(o.report, outline, {.l2 = false}).occupancy();
    return o;
}

}  // namespace tilescope::lab
