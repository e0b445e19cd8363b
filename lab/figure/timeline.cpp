// The Gantt of a run: which thread block is on which SM, and when.
#include <algorithm>

#include "core/text/numbers.hpp"
#include "lab/figure/kinds.hpp"
#include "lab/timing.hpp"

namespace tilescope::lab {
namespace {

constexpr Index most_sms = 24;  // lanes, so that a block is to be seen
constexpr std::size_t most_boxes = 4000;

/// The launches one after the other, on the first SMs; colours tell heads apart.
void add_launches(Panel& p, const Experiment& e, Index sms) {
    std::vector<PlayedLaunch> launches;
    const RunTime time = time_of(e, {.played = &launches});
    double begin = 0;
    for (std::size_t k = 0; k < launches.size(); ++k) {
        const PlayedLaunch& l = launches[k];
        const double second = 1 / (time.launches[k].clock_mhz * 1e6);
        begin += l.launch_us / 1e6;
        const double slots = static_cast<double>(time.launches[k].residency.blocks);
        std::vector<std::vector<double>> free(static_cast<std::size_t>(sms),
                                              std::vector<double>(static_cast<std::size_t>(slots), 0));
        for (std::size_t b = 0; b < l.timeline.stays.size() && p.boxes.size() < most_boxes; ++b) {
            const Stay& s = l.timeline.stays[b];
            if (s.sm >= static_cast<std::uint32_t>(sms)) continue;
            auto& lanes = free[s.sm];
            const auto lane =
                std::find_if(lanes.begin(), lanes.end(), [&](double until) { return until <= s.from * (1 + 1e-9); });
            const double slot = static_cast<double>(lane == lanes.end() ? 0 : lane - lanes.begin());
            if (lane != lanes.end()) *lane = s.to;
            const double y = static_cast<double>(s.sm) + slot / slots;
            p.boxes.push_back({begin + s.from * second, begin + s.to * second, y, y + 1 / slots,
                               static_cast<int>(l.order[b].head % 6)});
        }
        begin += l.timeline.cycles * second;
    }
}

}  // namespace

Figure timeline_figure(const FigureRequest& r) {
    vary_nothing(r);
    const auto variants = variants_of(r, {"flash_v1", "flash_v2"});
    std::vector<FigureCase> cases;
    for (const Variant& v : variants) cases.push_back({&v, {}});
    FigureRequest usual = r;
    usual.options = with_usual_sizes(r.options, 16, 4096);
    const auto outcomes = outcomes_of(usual, cases);
    Figure f{"timeline", "Who works, and when", {}, "", r.command};
    double longest = 0;
    for (std::size_t k = 0; k < variants.size(); ++k) {
        const Outcome& o = outcomes[k];
        if (!o.report || !o.report->time) continue;
        const Index sms = std::min(most_sms, o.experiment.gpu.sms);
        Panel p{variants[k].label + ": " + text::microseconds(o.report->time->us()) + ", " +
                    text::grouped(o.report->time->longest().sms) + " of " + text::grouped(o.experiment.gpu.sms) +
                    " SMs in use",
                {"time (modelled)", Scale::seconds, false, 0.0},
                {"SM (the first " + text::grouped(sms) + ")", Scale::plain, false, 0.0, static_cast<double>(sms)}};
        add_launches(p, o.experiment, sms);
        longest = std::max(longest, o.report->time->us() / 1e6);
        f.panels.push_back(p);
    }
    if (f.panels.empty()) throw RunError("plot timeline: " + outcomes[0].remark);
    for (Panel& p : f.panels) p.x.to = longest;
    f.caption =
        "A box is a thread block on an SM; neighbouring heads differ in colour; where an SM holds several they lie "
        "side by side. "
        "The same scale of "
        "time. Modelled. " +
        setup_text(outcomes[0].experiment, "") + ".";
    return f;
}

}  // namespace tilescope::lab
