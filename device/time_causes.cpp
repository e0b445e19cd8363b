#include "device/time_causes.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/time/rates.hpp"
#include "lab/model/timing.hpp"

namespace tilescope::device {
using namespace lab;
using text::message;
namespace {

class Causes {
  public:
    Causes(const Report& report, std::span<const NcuLaunch> launches, Index runs)
        : r_(report), time_(*report.time), measured_(combine(launches)), runs_(static_cast<double>(runs)) {}

    std::vector<TimeCause> all() {
        thread_blocks(), dram(), conflicts(), clock();
        return std::move(causes_);
    }

  private:
    /// The extra time of a launch with fewer thread blocks on an SM, by the model.
    void thread_blocks() {
        const Index model = time_.longest().residency.blocks;
        const auto fewest = measured_.blocks_per_sm();
        if (!fewest || model < 1) return;
        const Index there = std::llround(std::min(*fewest, measured_.blocks_by_others.value_or(*fewest)));
        double more = 0;
        if (there > 0 && there < model) {
            Experiment e = r_.experiment;
            e.placing.blocks_per_sm = there;
            more = time_of(e).us() - time_.us();
        }
        causes_.push_back(
            {"thread blocks on an SM", "cause.thread_blocks",
             message(time_.launches.size() > 1 ? "cause.blocks_of_longest_launch" : "cause.blocks", there, model),
             more});
    }

    /// The time that the measured bytes take at DRAM's rate, beyond all of the modelled time.
    void dram() {
        const auto model = r_.dram();
        const std::optional<double> both = measured_.dram_bytes;
        if (!both || !model) return;
        const double bytes = *both / runs_;
        const DramRates rates = dram_of(rates_of(r_.experiment.gpu), time_.style);
        const double written = measured_.dram_write_bytes.value_or(0) / runs_;
        const double us = ((bytes - written) / rates.read + written / rates.write) * 1e-3;  // rates in 10^9 B/s
        causes_.push_back(
            {"DRAM", "cause.dram",
             message("cause.dram_bytes", text::bytes(bytes), text::microseconds(us), text::bytes(model->total())),
             std::max(0.0, us - time_.us())});
    }

    /// Each conflict takes a cycle of an SM's shared memory.
    void conflicts() {
        if (!measured_.shared_conflicts) return;
        const double conflicts = *measured_.shared_conflicts / runs_;
        const LaunchTime& l = time_.longest();
        const double us = conflicts / static_cast<double>(std::max<Index>(1, l.sms)) / l.clock_mhz;
        const auto counted = std::llround(conflicts);
        constexpr double least = 0.005;  // share that is not shown as 0%
        const auto all = measured_.shared_wavefronts;
        const bool visible = all && conflicts * runs_ >= least * *all && conflicts > 0;
        causes_.push_back({"bank conflicts", "cause.bank_conflicts",
                           visible
                               ? message("cause.share_of_conflicts", counted, text::percent(conflicts * runs_ / *all))
                               : message("cause.conflicts", counted),
                           us});
    }

    void clock() {
        if (!measured_.megahertz) return;
        double cycles = 0;  // of all launches, by the model
        for (const LaunchTime& l : time_.launches) cycles += l.us * l.clock_mhz;
        const double model = cycles / time_.us();
        causes_.push_back({"clock", "cause.clock",
                           message("cause.megahertz", std::llround(*measured_.megahertz), std::llround(model)),
                           time_.us() * (model / *measured_.megahertz - 1)});
    }

    const Report& r_;
    const RunTime& time_;
    Measured measured_;
    double runs_;
    std::vector<TimeCause> causes_;
};

}  // namespace

std::vector<TimeCause> time_causes(const Report& report, std::span<const NcuLaunch> launches, Index runs) {
    return Causes(report, launches, runs).all();
}

}  // namespace tilescope::device
