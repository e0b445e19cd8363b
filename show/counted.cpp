#include "show/counted.hpp"

#include "lab/timing.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

/// Counts the events of thread blocks that a recording would have. A folded run tells them with their weights.
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

Index heads_with_numbers(const Counted& counted, const RecordingLimits& limits) {
    const Counters& c = counted.report.counters;
    const Index all = counted.experiment().problem.batch_heads();
    const auto fit = [&](Count limit, Count cost) { return cost > 0 ? limit / ceil_div(cost, all) : all; };
    const Count flops = c.matmul_flops + 8 * c.exps;
    const Index one = ceil_div(flops, all) <= 2 * limits.matmul_flops ? 1 : 0;
    // Tiles are recorded as floats whenever they are written; stored types may be half as wide.
    return std::min({all, std::max(one, fit(limits.matmul_flops, flops)),
                     fit(limits.value_bytes, 2 * (c.sram_write + c.register_write)),
                     fit(limits.events - c.launches, counted.events)});
}

Index heads_to_record(const Counted& counted, const RecordingLimits& limits) {
    return whole_groups(counted.experiment().problem, heads_with_numbers(counted, limits));
}

}  // namespace tilescope::show
