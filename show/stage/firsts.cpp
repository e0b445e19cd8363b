#include "show/stage/firsts.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "core/machine/sorted.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"

namespace tilescope::show {
using text::message;
namespace {

/// The first factor below 1, exp of a former maximum minus a new one: the former was not the largest score after all.
std::optional<First> first_rescaling(const Run& run) {
    const Trace& trace = run.trace();
    for (Index k = 0; k < trace.size(); ++k) {
        const Step& s = trace[k];
        if (!takes_exponential(s.event.operation->effect)) continue;
        const RecordedTile& tile = trace.tiles()[s.event.out];
        if (tile.meaning != Meaning::statistic || tile.cols != 1) continue;
        const TileData values = trace.values(s);
        const auto less = std::find_if(values.begin(), values.end(), [](float f) { return f > 0 && f < 1; });
        if (less == values.end()) continue;
        return First{run.schedule().tick_of(k),
                     message("firsts.rescaling", run.contents().after(k), text::number(static_cast<double>(*less)),
                             std::to_string(less - values.begin()),
                             std::to_string(run.schedule().placement_of(s.launch, s.event.block)->sm))};
    }
    return std::nullopt;
}

/// The first time a thread block goes past a tile in which no query sees a key: at a row's end, or a column's top.
std::optional<First> first_skip(const Wall& wall) {
    std::optional<First> first;
    const auto past = [&](Index i, Index j, Index tick) {
        if (i < 0 || j >= wall.cols() || !wall.skipped(i, j) || (first && first->tick <= tick)) return;
        first = First{tick, message("firsts.skip", std::to_string(i + 1), std::to_string(j + 1))};
    };
    for (const auto& [block, way] : wall.ways())
        for (std::size_t k = 0; k < way.size(); ++k) {
            const Visit& v = wall.visits()[way[k]];
            const Visit* before = k > 0 ? &wall.visits()[way[k - 1]] : nullptr;
            const Visit* after = k + 1 < way.size() ? &wall.visits()[way[k + 1]] : nullptr;
            if (!after || after->cols.begin != v.cols.begin) past(v.rows.end() - 1, v.cols.end(), v.to);
            if (!before || before->rows.begin != v.rows.begin) past(v.rows.begin - 1, v.cols.begin, v.from);
        }
    return first;
}

/// The first thread block that is the second one of its launch on an SM.
std::optional<First> first_wave(const Run& run) {
    std::set<std::pair<Index, Index>> took;  // launches, SMs
    std::optional<First> first;
    for (const Placement& p : run.schedule().placements()) {
        if (took.emplace(p.launch, p.sm).second || (first && first->tick <= p.first_tick)) continue;
        first = First{p.first_tick, message("firsts.wave", std::to_string(p.sm), std::to_string(p.block))};
    }
    return first;
}

}  // namespace

std::vector<First> firsts_of(const Run& run, const Wall* wall) {
    std::vector<First> firsts;
    for (auto& first : {first_rescaling(run), wall ? first_skip(*wall) : std::nullopt, first_wave(run)})
        if (first) firsts.push_back(*first);
    sort_stably(firsts, [](auto& a, auto& b) { return a.tick < b.tick; });
    return firsts;
}

const std::vector<First>& Firsts::of(const Run& run, Walls& walls, std::uint64_t version) {
    return told_.of(version, {&run},
                    [&] { return firsts_of(run, Wall::has_room_for(run) ? &walls.of(run, 0, version) : nullptr); });
}

}  // namespace tilescope::show
