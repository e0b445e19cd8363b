#include "show/stage/lane_walk.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/stage/lanes_text.hpp"

namespace tilescope::show {
using text::message;
namespace {

LaneDoing doing_of_operation(Kind kind) {
    switch (kind) {
        case Kind::load:
            return LaneDoing::load;
        case Kind::product:
            return LaneDoing::product;
        case Kind::store:
            return LaneDoing::busy;
        default:
            return LaneDoing::work;
    }
}

/// Whether a lane carries it out.
bool is_carried_out(const Step& s) { return s.lane >= 0 && works(s.kind()); }

/// Whether the lanes of a play have an act for such an operation: not for one that rides on another one, nor for one
/// on one number a row.
bool takes_time(const Step& s, const RecordedTile& tile) {
    if (s.event.operation->access == Access::in_passing) return false;
    return s.kind() == Kind::load || s.kind() == Kind::product || s.kind() == Kind::reduce || tile.cols > 1;
}

}  // namespace

std::optional<LaneMoment> LaneWalk::at(const SmState& sm) {
    const Step* const operation = run_.operation(sm);
    if (!timed_ || !sm.block || !operation) return std::nullopt;
    if (launch_ != sm.block->launch || block_ != sm.block->block) walk(sm.block->launch, sm.block->block);
    const auto place = places_.find(operation - &run_.trace()[0]);
    if (place == places_.end()) return std::nullopt;
    const Place& p = place->second;
    const LaneView& view = view_of(p.tile);
    double cycle = view.segments()[p.segments->front()].from;
    for (const std::uint32_t s : *p.segments) cycle = std::min(cycle, view.segments()[s].from);
    return LaneMoment{&view, cycle, p.segments, p.own};
}

const LaneView& LaneWalk::view_of(Index tile) {
    if (tile_ != tile) view_.emplace(played_.programs, played_.play, tile, 1, 1);
    tile_ = tile;
    return *view_;
}

void LaneWalk::play(Index tiles) {
    if (tiles == tiles_) return;
    played_ = lab::played_lanes(run_.experiment(), tiles);
    tiles_ = tiles, tile_ = -1;
    segments_.clear();
    const std::vector<LaneSegment>& all = view_of(0).segments();
    for (std::uint32_t k = 0; k < all.size(); ++k) segments_[{all[k].doing, all[k].what, all[k].turn}].push_back(k);
}

/// Finds the segments of the block's operations. An operation without any belongs to the work before it, or to that
/// which comes next where a product or a load is before it.
void LaneWalk::walk(Index launch, Index block) {
    const Trace& trace = run_.trace();
    std::vector<Index> steps;
    Index tiles = 0;
    for (Index k = 0; k < trace.size(); ++k) {
        const Step& s = trace[k];
        if (s.launch != launch || s.event.block != block || !is_carried_out(s)) continue;
        steps.push_back(k);
        if (s.turn >= 0) tiles = std::max(tiles, trace.turns()[static_cast<std::size_t>(s.turn)].of);
    }
    launch_ = launch, block_ = block;
    places_.clear();
    if (tiles == 0) return;
    play(tiles);
    struct Lane {
        const std::vector<std::uint32_t>* work = nullptr;  // the last one, with nothing after it
        std::vector<std::pair<Index, Index>> before;       // operations that wait for the next one, and their tiles
    };
    std::map<Index, Lane> lanes;
    bool looped = false;
    for (const Index k : steps) {
        const Step& s = trace[k];
        const RecordedTile& tile = trace.tiles()[s.tile()];
        const LaneDoing doing = doing_of_operation(s.kind());
        const bool by_warps = doing == LaneDoing::work || doing == LaneDoing::busy;
        const std::string what = by_warps ? s.event.operation->name : tile.name;
        looped |= s.turn >= 0;
        const Index turn = s.turn >= 0           ? trace.turns()[static_cast<std::size_t>(s.turn)].index
                           : looped && tiles > 1 ? tiles
                                                 : 0;
        const Index of = std::min(turn, tiles - 1);
        Lane& lane = lanes[s.lane];
        const auto own = takes_time(s, tile) ? segments_.find({doing, what, turn}) : segments_.end();
        if (own == segments_.end()) {
            if (lane.work)
                places_.insert({k, {of, lane.work, false}});
            else
                lane.before.emplace_back(k, of);
            continue;
        }
        places_.insert({k, {of, &own->second, true}});
        lane.work = by_warps ? &own->second : nullptr;
        if (!by_warps) continue;
        for (const auto& [earlier, its] : lane.before) places_.insert({earlier, {its, lane.work, false}});
        lane.before.clear();
    }
}

std::string carried_out_text(const LaneMoment& m) {
    const auto cycle = [](double at) { return text::grouped(std::llround(at)); };
    std::vector<std::string> all;
    for (const std::uint32_t k : *m.segments) {
        const LaneSegment& s = m.view->segments()[k];
        const std::string lane = m.view->name_of(s.lane);
        all.push_back(message("lane.carried_out_by",
                              s.doing == LaneDoing::product ? message("lane.tensor_cores_for", lane)
                              : s.doing == LaneDoing::load  ? message("lane.bus_for", lane)
                                                            : lane,
                              cycle(s.from), cycle(s.to)));
    }
    const std::string by = text::join(all, ", ");
    if (m.own) return message("lane.carried_out", by);
    return message("lane.carried_out_with", lane_word(m.view->segments()[m.segments->front()]), by);
}

}  // namespace tilescope::show
