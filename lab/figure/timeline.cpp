// The Gantt chart of a run: which thread block is on which SM, and when.
#include <algorithm>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "lab/figure/kinds.hpp"
#include "lab/figure/ticks.hpp"
#include "lab/model/played_launch.hpp"
#include "lab/model/timing.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr Index most_sms = 24;  // rows of the figure; with more rows, blocks could not be seen
constexpr std::size_t most_boxes = 4000;

/// A run whose launches were played block by block.
struct Play {
    std::string title;
    const Outcome* outcome;
    std::vector<PlayedLaunch> launches;
    RunTime time;
};

/// How many SMs, from SM 0 on, can be drawn with every thread block. UsageError where SM 0 alone has too many.
Index sms_to_draw(const Play& play) {
    const Index all = std::min(most_sms, play.outcome->experiment.gpu.sms);
    std::vector<std::size_t> boxes(static_cast<std::size_t>(all), 0);
    for (const PlayedLaunch& l : play.launches)
        for (const Stay& s : l.timeline.stays)
            if (s.sm < boxes.size()) ++boxes[s.sm];
    std::size_t drawn = 0;
    for (std::size_t sm = 0; sm < boxes.size(); ++sm)
        if (drawn += boxes[sm]; drawn > most_boxes) {
            if (sm == 0) throw UsageError(message("timeline_figure.too_many_blocks", boxes[0], most_boxes));
            return static_cast<Index>(sm);
        }
    return all;
}

/// Adds the launches one after the other, on the first `sms` SMs. Colours tell heads apart.
void add_launches(Panel& p, const Play& play, Index sms) {
    const RunTime& time = play.time;
    const std::vector<PlayedLaunch>& launches = play.launches;
    double begin = 0;
    for (std::size_t k = 0; k < launches.size(); ++k) {
        const PlayedLaunch& l = launches[k];
        const double second = 1 / (time.launches[k].clock_mhz * 1e6);
        begin += l.launch_us / 1e6;
        const double slots = static_cast<double>(time.launches[k].residency.blocks);
        std::vector<std::vector<double>> free(static_cast<std::size_t>(sms),
                                              std::vector<double>(static_cast<std::size_t>(slots), 0));
        for (std::size_t b = 0; b < l.timeline.stays.size(); ++b) {
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
    std::vector<Play> plays;
    Index sms = most_sms;
    for (std::size_t k = 0; k < variants.size(); ++k) {
        const Outcome& o = outcomes[k];
        if (!o.report || !o.report->time) continue;
        Play play{variants[k].title, &o, {}, {}};
        play.time = time_of(o.experiment, {.played = &play.launches}, r.control);
        sms = std::min(sms, sms_to_draw(play));
        plays.push_back(std::move(play));
    }
    Figure f{"timeline", message("timeline_figure.title"), {}, "", r.command};
    double longest = 0;
    for (const Play& play : plays) {
        const Outcome& o = *play.outcome;
        const Index all = o.experiment.gpu.sms;
        Panel p{message("timeline_figure.panel", play.title, text::microseconds(o.report->time->us()),
                        o.report->time->longest().sms, all),
                {message("timeline_figure.time"), Scale::seconds, false, 0.0},
                {sms < all ? message("timeline_figure.first_sms", sms) : message("timeline_figure.sms"), Scale::plain,
                 false, 0.0, static_cast<double>(sms)}};
        add_launches(p, play, sms);
        longest = std::max(longest, o.report->time->us() / 1e6);
        f.panels.push_back(p);
    }
    if (f.panels.empty()) throw RunError(message("timeline_figure.not_drawn", outcomes[0].remark));
    for (Panel& p : f.panels) in_one_unit(p.x, longest), p.x.to = longest;
    const auto any = [&](auto&& holds) { return std::any_of(plays.begin(), plays.end(), holds); };
    const bool heads = any([](const Play& play) { return play.outcome->experiment.problem.batch_heads() > 1; });
    const bool side_by_side = any([](const Play& play) {
        return std::any_of(play.time.launches.begin(), play.time.launches.end(),
                           [](const LaunchTime& l) { return l.resident > 1; });
    });
    std::vector<std::string> of_all = {message(heads && side_by_side ? "timeline_figure.boxes_of_heads_side_by_side"
                                               : heads               ? "timeline_figure.boxes_of_heads"
                                               : side_by_side        ? "timeline_figure.boxes_side_by_side"
                                                                     : "timeline_figure.boxes")};
    if (plays.size() > 1) of_all.push_back(message("timeline_figure.same_scale"));
    of_all.insert(of_all.end(), {message("figure.modelled"), setups_of(variants, outcomes)});
    f.of_all = text::sentences(of_all);
    return f;
}

}  // namespace tilescope::lab
