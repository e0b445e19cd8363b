#include "lab/model/timing.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "algorithms/contract/kernel_description.hpp"
#include "algorithms/contract/roles.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "lab/model/basis.hpp"
#include "lab/model/bound.hpp"
#include "lab/model/dram.hpp"
#include "lab/model/laned.hpp"
#include "lab/model/launch_kernels.hpp"
#include "lab/model/launch_memory.hpp"
#include "lab/model/placing.hpp"
#include "lab/model/play.hpp"
#include "lab/model/timed_launch.hpp"

namespace tilescope::lab {
using text::message;
namespace {

class Run {
  public:
    /// `outline`: of the same run as `counted`.
    Run(const Report& counted, const Outline& outline, const TimingOptions& options)
        : e_(counted.experiment),
          in_turn_(outline_in_turn(e_)),
          outline_(in_turn_ ? *in_turn_ : outline),
          options_(options),
          kernels_(counted, outline_, options.registers),
          rates_(rates_of(e_.gpu)),
          dram_(counted, outline_, options.l2 ? DramModel::most_visits : 0) {}

    RunTime time() {
        RunTime out;
        out.style = kernels_.with_products().style;
        out.tile = kernels_.tile();
        for (std::size_t k = 0; k < outline_.launches().size(); ++k) out.launches.push_back(time(k));
        set_basis(out, e_);
        out.no_dram = dram_.why_not();
        out.without_lanes = !has_timed_lanes(e_) && std::any_of(outline_.launches().begin(), outline_.launches().end(),
                                                                [](const LaunchOutline& l) { return l.has_lanes; });
        const auto without_room = std::find_if(out.launches.begin(), out.launches.end(),
                                               [](const LaunchTime& l) { return l.residency.blocks == 0; });
        out.no_room = untimed(e_);
        if (out.no_room.empty() && without_room != out.launches.end())
            out.no_room = message("timing.no_room", without_room->kernel, without_room->warps, e_.gpu.name,
                                  std::to_string(e_.gpu.max_warps_per_sm));
        return out;
    }

  private:
    /// The time that launching takes; a tenth of it where a launch starts up while the one before still runs
    /// (programmatic dependent launch): its thread blocks are already resident when the launch before ends.
    double launch_us(std::size_t k) const {
        constexpr double hopper = 9, of_a_launch = 0.1;
        const bool can = text::to_number(e_.gpu.compute_capability).value_or(0) >= hopper;
        return k > 0 && e_.algorithm->kernel->overlaps && can ? of_a_launch * rates_.launch_us : rates_.launch_us;
    }

    /// What is left of the time that launching takes where the launch waits for the one before: the host launches while
    /// that one runs. Kernels without lanes were measured, and their constants found, with all of it.
    double queued(double launching, double running) const {
        return std::max(rates_.queued_launch_us, launching - running);
    }

    /// The clock under this load. Warps that have a softmax each wait for memory, so that the load is light.
    double clock_mhz(const Kernel& kernel, Count blocks, Index slots) const {
        const bool light = blocks <= e_.gpu.sms || kernels_.with_products().own_softmax;
        return clock_of(rates_, kernel.style, (light ? 1 : slots) * std::max<Index>(1, kernel.warps / 4));
    }

    LaunchTime time(std::size_t k) {
        const LaunchOutline& outline = outline_.launches()[k];
        double launching = launch_us(k);
        if (options_.played) options_.played->emplace_back();
        const Kernel kernel = kernels_.of(k);
        TimedLaunch launch(outline, kernel, rates_, kernels_.full_rows(k));
        LaunchTime t;
        static_cast<Occupancy&>(t) = kernels_.occupancy(k);
        t.kernel = outline.kernel, t.blocks = launch.blocks();
        const Index sms = e_.gpu.sms, slots = t.residency.blocks;
        if (slots == 0) {
            t.us = std::numeric_limits<double>::infinity();
            return t;
        }
        const double all_slots = static_cast<double>(sms) * static_cast<double>(slots);
        t.clock_mhz = t.sustained_mhz = clock_mhz(kernel, t.blocks, slots);
        t.waves = static_cast<double>(t.blocks) / all_slots;
        t.sms = static_cast<Index>(std::min<Count>(sms, t.blocks));
        const double sharing = sharing_at_first(std::max<Count>(1, launch.reading()), slots, sms, kernel.style);
        LaunchMemory memory = memory_of(sharing, sms, rates_, t.clock_mhz, kernel.style);
        if (launch.count(1) * launch.count(2) <= most_blocks_played) find_traffic(k, launch, kernel.style, memory, t);
        if (outline.has_lanes && has_timed_lanes(e_))
            launch.by_lanes(laned_times(e_, slots, {memory.reads_missed, memory.dram_read, sharing_of(e_)}));
        launch.take(memory);
        double cycles = 0;
        if (t.blocks > most_blocks_played) {
            cycles = launch.sum_of_cycles(slots) / all_slots;
            t.resident = static_cast<double>(slots);
        } else {
            const bool keeps_stays = options_.played && t.blocks <= options_.most_stays;
            const Tiling tiling = with_roles(e_);
            const bool paired = launch.lanes() && in_pairs(e_.problem, tiling) && order_of(e_) == Order::kernel;
            const bool dealt_out = tiling.persistent == dealt || tiling.persistent == dealt_in_pairs;
            cycles = play(launch,
                          {outline.axes, order_of(e_), heads_in_l2(e_), launch.lanes() && dealt_out,
                           paired ? tiling.cluster : 0, sms, slots, kernel.style, sharing},
                          t, keeps_stays ? &options_.played->back() : nullptr);
        }
        if (launch.lanes()) {
            if (launch.lanes()->kernel.persistent) t.persistent = std::min<Count>(t.blocks, sms * slots);
            const double before = cycles;
            cycles = with_start(launch, cycles, t);
            cycles = std::max(cycles, dram_us(t) * t.clock_mhz);
            launching = queued(launching, cycles / t.clock_mhz);
            if (options_.played) delay(options_.played->back().timeline, cycles - before);
        }
        if (options_.played) options_.played->back().launch_us = launching;
        t.us = cycles / t.clock_mhz + launching, t.launching_us = launching;
        set_bound(t, launch, cycles, sms, launching);
        return t;
    }

    /// The cycles with those before the first tile. Sets the clock, which falls the more of a step tensor cores are at
    /// work, and the more SMs' are.
    double with_start(const TimedLaunch& launch, double cycles, LaunchTime& t) const {
        const double all = cycles + launch.lanes()->start();
        t.lanes = launch.lanes()->laws.back();
        const double of_a_step = t.lanes->busy.tensor / launch.lanes()->step().together(t.residency.blocks);
        const double at_work = static_cast<double>(t.sms) / static_cast<double>(e_.gpu.sms);
        const Clock clock = clock_beside(of_a_step * at_work, all, e_.gpu);
        t.clock_mhz = clock.mhz, t.sustained_mhz = clock.sustained;
        return all;
    }
    /// Lets the thread blocks of a played launch begin later.
    static void delay(Timeline& timeline, double cycles) {
        for (Stay& s : timeline.stays) s.from += cycles, s.to += cycles;
        for (Shared& s : timeline.shared)
            if (s.from > 0) s.from += cycles;
        timeline.cycles += cycles, timeline.last_start += cycles;
    }
    /// Microseconds that DRAM takes for what it has to send and take in.
    double dram_us(const LaunchTime& t) const {
        const DramRates dram = dram_of(rates_, Style::tensor_cores);
        return !t.dram_again ? 0
                             : (static_cast<double>(t.dram_again->read) / dram.read +
                                static_cast<double>(t.dram_again->written) / dram.write) /
                                   1e3;
    }

    /// Sets the L2's misses in `memory` and `t`, if they can be found. Thread blocks are played as if the L2 missed
    /// nothing.
    void find_traffic(std::size_t k, TimedLaunch& launch, Style style, LaunchMemory& memory, LaunchTime& t) {
        const auto kinds = [&] {
            launch.take(memory);
            return launch.cycles(t.residency.blocks);
        };
        const auto traffic = dram_.of(k, kinds, t.residency.blocks, refill_of(style));
        if (!traffic) return;
        t.dram = traffic->first, t.dram_again = traffic->again;
        set_misses(memory, *traffic, dram_.counted(k));
    }

    const Experiment& e_;
    const std::optional<Outline> in_turn_;
    const Outline& outline_;
    const TimingOptions& options_;
    const LaunchKernels kernels_;
    const Rates rates_;
    DramModel dram_;
};

}  // namespace

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
    r.no_time = time.no_room, r.unmodelled = !untimed(r.experiment).empty();
    if (time.without_lanes && !r.unmodelled) r.notes.push_back(message("timing.without_lanes"));
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

}  // namespace tilescope::lab
