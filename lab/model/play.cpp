#include "lab/model/play.hpp"

#include <algorithm>
#include <utility>

namespace tilescope::lab {
namespace {

/// The cycles of a thread block once all blocks of its launch have started: the fewer blocks are left, the more of L2
/// and DRAM each has. Only for graded() launches and, on tensor cores, for launches that run in_waves(); else empty.
/// The constants of CUDA cores were fitted without such a change in waves.
Among among_left(const TimedLaunch& launch, const Playing& p) {
    if (!launch.waits_for_memory(p.slots)) return {};
    if (!launch.graded() && (p.style == Style::cuda_cores || !launch.in_waves())) return {};
    return [&launch, slots = p.slots, sharing = p.sharing](std::uint32_t block, Count at_work) {
        const BlockWork work = launch.work(block);
        BlockCycles cycles;
        for (Index r = 1; r <= slots; ++r) cycles.push_back(work.cycles_beside(r, still_shared(sharing, r, at_work)));
        return cycles;
    };
}

/// Sets resident blocks and tail in `t` from the timeline; returns the timeline's cycles.
double take(const Timeline& timeline, const Playing& p, LaunchTime& t) {
    t.resident = timeline.resident;
    const auto all = static_cast<double>(p.sms * p.slots);
    t.tail = ((timeline.cycles - timeline.last_start) * all - timeline.after_start) / (timeline.cycles * all);
    return timeline.cycles;
}

/// The longest thread block's time over the mean.
double imbalance_of(const Grid& grid) {
    double longest = 0, sum = 0;
    for (const std::uint32_t kind : grid.sequence)
        sum += grid.kinds[kind][0], longest = std::max(longest, grid.kinds[kind][0]);
    return longest / (sum / static_cast<double>(grid.sequence.size()));
}

/// The launch's grid in the order in which its thread blocks start. `kept`, where it is not null, gets the order.
Grid grid_of(const TimedLaunch& launch, const Playing& p, const Among& among, PlayedLaunch* kept) {
    Grid grid{launch.cycles(p.slots), {}, 1, among, launch.graded()};
    if (kept || p.paired > 0) {
        Dealt all = p.paired > 0 ? deal_pairs(p.axes, p.sms * p.slots, p.paired)
                                 : Dealt{dispatch(p.axes, p.order, p.heads_in_l2), {}};
        grid.sequence.reserve(all.blocks.size());
        for (const BlockOfHead& b : all.blocks) grid.sequence.push_back(b.block);
        grid.places = std::move(all.places);
        if (kept) kept->order = std::move(all.blocks);
    } else {
        Dispatched order = dispatched(p.axes, p.order, p.heads_in_l2);
        grid.sequence = std::move(order.blocks), grid.each = order.each, grid.times = order.times;
    }
    return grid;
}

}  // namespace

Refill refill_of(Style style) { return style == Style::tensor_cores ? Refill::packed : Refill::spread; }

double play(const TimedLaunch& launch, const Playing& p, LaunchTime& t, PlayedLaunch* kept) {
    const Refill refill = refill_of(p.style);
    const Among among = among_left(launch, p);
    const bool alike = launch.all_alike();
    double cycles = 0;
    if (alike)
        cycles = take(play_alike(launch.cycles_of_first(p.slots), t.blocks, p.sms, p.slots, refill, among), p, t);
    if (alike && !kept) return cycles;
    const Grid grid = grid_of(launch, p, among, kept);
    const Keep keep = kept ? Keep::stays : Keep::totals;
    const Timeline timeline =
        p.dealt ? deal(grid, p.sms, p.slots, keep) : tilescope::play(grid, p.sms, p.slots, refill, 0, keep);
    if (!alike) cycles = take(timeline, p, t), t.imbalance = imbalance_of(grid);
    if (kept) kept->axes = p.axes, kept->works = launch.works(), kept->timeline = timeline, kept->sharing = p.sharing;
    return cycles;
}

}  // namespace tilescope::lab
