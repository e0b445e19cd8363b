#include "show/run/counted.hpp"

#include "lab/model/timing.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

/// Counts the events that a recording would have. In a folded run each event stands for `times` of them.
struct EventCount : Listener {
    Count events = 0;
    void begin(const BlockMark& b) override { events += b.times; }
    void end(const BlockMark& b) override { events += b.times; }
    void on(const Event& e, TileData) override { events += e.times; }
};

}  // namespace

Counted count_for_show(const Experiment& e, Control* control) {
    Profile profile;
    Nest nest;
    EventCount events;
    Outline outline;
    Listener* const listeners[] = {&profile, &nest, &events, &outline};
    Counted counted{count(e, control, listeners), profile.lines(), nest.launches(), events.events};
    std::vector<PlayedLaunch> played;
    set_time(counted.report, outline, {.played = &played, .most_stays = Gantt::most_stays});
    if (!counted.report.time) return counted;
    counted.gantt = std::make_shared<Gantt>(counted.report, std::move(played));
    return counted;
}

Index whole_groups(const Problem& p, Index heads) {
    const Index sharing = p.heads / p.kv_heads, sharing_bias = p.bias.group * p.heads;
    if (heads >= p.batch_heads()) return p.batch_heads();
    if (heads >= sharing_bias) return heads / sharing_bias * sharing_bias;
    if (heads >= p.heads) return heads / p.heads * p.heads;
    return std::max<Index>(1, heads <= sharing ? heads : heads / sharing * sharing);
}

Bytes value_bytes(const Counted& counted, Index heads) {
    const Counters& c = counted.report.counters;
    return ceil_div(2 * (c.sram_write + c.register_write), counted.experiment().problem.batch_heads()) * heads;
}

Index heads_with_numbers(const Counted& counted, const RecordingLimits& limits) {
    const Counters& c = counted.report.counters;
    const Index all = counted.experiment().problem.batch_heads();
    const auto fit = [&](Count limit, Count of_one) { return of_one > 0 ? limit / of_one : all; };
    const Count flops = ceil_div(c.matmul_flops + 8 * c.exps, all);
    const Index one = flops <= 2 * limits.matmul_flops ? 1 : 0;
    return std::min({all, std::max(one, fit(limits.matmul_flops, flops)),
                     fit(limits.value_bytes, value_bytes(counted, 1)),
                     fit(limits.events - c.launches, ceil_div(counted.events, all))});
}

Index heads_to_record(const Counted& counted, const RecordingLimits& limits) {
    return whole_groups(counted.experiment().problem, heads_with_numbers(counted, limits));
}

}  // namespace tilescope::show
