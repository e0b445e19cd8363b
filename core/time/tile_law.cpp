#include "core/time/tile_law.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "core/machine/sorted.hpp"
#include "core/text/message.hpp"

namespace tilescope {
namespace {

constexpr Index settled = 2;  // tiles: those after it are alike

/// A tile on average, of those after `settled`.
struct AverageTile {
    double cycles = 0, first = 0;
    LaneBusy busy;
    std::vector<LaneWait> waits;
};

constexpr double LaneBusy::*of_busy[] = {&LaneBusy::tensor, &LaneBusy::exp, &LaneBusy::cuda, &LaneBusy::both,
                                         &LaneBusy::bus};

/// When the last lane ends a tile.
const LaneEnd& end_of(const LanePlay& play, Index tile) {
    const auto last =
        std::find_if(play.ends.rbegin(), play.ends.rend(), [&](const LaneEnd& e) { return e.tile == tile; });
    if (last == play.ends.rend()) throw std::logic_error(text::message("law.needs_tiles", tiles_of_law));
    return *last;
}

AverageTile average(const LanePlay& play) {
    constexpr double tiles = tiles_of_law - 1 - settled;
    const LaneEnd &from = end_of(play, settled), &to = end_of(play, tiles_of_law - 1);
    AverageTile a;
    a.cycles = (to.at - from.at) / tiles, a.first = end_of(play, 0).at;
    for (const auto member : of_busy) a.busy.*member = (to.busy.*member - from.busy.*member) / tiles;
    for (const LaneWait& w : play.waits) {
        if (w.tile <= settled) continue;
        const auto same = std::find_if(a.waits.begin(), a.waits.end(), [&](const LaneWait& o) {
            return o.lane == w.lane && o.awaited == w.awaited && std::string_view(o.what) == w.what;
        });
        if (same == a.waits.end())
            a.waits.push_back(w), a.waits.back().cycles /= tiles;
        else
            same->cycles += w.cycles / tiles;
    }
    return a;
}

/// When a thread block ends that computes only its first tile.
double end_of_first(const LanePrograms& lanes) {
    std::vector<LaneProgram> first;
    for (const LaneProgram& l : lanes.programs()) {
        const auto end =
            std::find_if(l.acts.begin(), l.acts.end(), [](const Act& a) { return a.kind == Act::Kind::end; });
        first.push_back({l.name, {l.acts.begin(), end == l.acts.end() ? end : end + 1}});
    }
    return end_of(play_lanes(first, lanes.machine()), 0).at;
}

double first_of(const LanePrograms& lanes, const AverageTile& tile) {
    return lanes.kernel().persistent ? tile.first : end_of_first(lanes);
}

/// Lanes that work for others alone may wait as long as they like.
bool only_helps(const LaneProgram& lane) {
    const auto any = [&](Act::Kind kind) {
        return std::any_of(lane.acts.begin(), lane.acts.end(), [&](const Act& a) { return a.kind == kind; });
    };
    return any(Act::Kind::work) && !any(Act::Kind::product);
}

std::vector<TileLaw::Wait> waits_per_step(const LanePrograms& lanes, const AverageTile& less, const AverageTile& more,
                                          double steps) {
    constexpr double of_a_cycle = 1e-3;
    std::vector<TileLaw::Wait> all;
    for (const LaneWait& w : more.waits) {
        if (only_helps(lanes.programs()[w.lane])) continue;
        double cycles = w.cycles;
        for (const LaneWait& o : less.waits)
            if (o.lane == w.lane && o.awaited == w.awaited && std::string_view(o.what) == w.what) cycles -= o.cycles;
        if (cycles > of_a_cycle * steps)
            all.push_back({lanes.programs()[w.lane].name, w.awaited, w.what, cycles / steps});
    }
    sort_stably(all, [](const auto& a, const auto& b) { return a.cycles > b.cycles; });
    return all;
}

}  // namespace

TileCycles cycles_of_tile(const LanePrograms& lanes) {
    const AverageTile tile = average(play_lanes(lanes.programs(), lanes.machine()));
    return {tile.cycles, first_of(lanes, tile)};
}

TileLaw law_of(const LanePrograms& shorter, Index steps, const LanePrograms& longer, Index more_steps) {
    const AverageTile less = average(play_lanes(shorter.programs(), shorter.machine()));
    const AverageTile more = average(play_lanes(longer.programs(), longer.machine()));
    const double n = static_cast<double>(steps), further = static_cast<double>(more_steps - steps);
    TileLaw law;
    law.step = (more.cycles - less.cycles) / further;
    law.fixed = less.cycles - n * law.step;
    law.first = first_of(shorter, less) - n * law.step;
    for (const auto member : of_busy)  // where a tile's end differs between the runs, the difference may be too large
        law.busy.*member = std::min(law.step, (more.busy.*member - less.busy.*member) / further);
    law.waits = waits_per_step(longer, less, more, further);
    return law;
}

}  // namespace tilescope
