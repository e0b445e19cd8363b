#include "core/record/outline.hpp"

#include <algorithm>

namespace tilescope {

void Outline::begin(const LaunchMark& mark) {
    launches_.push_back({.kernel = mark.kernel, .axes = {mark.axes.begin(), mark.axes.end()}, .blocks = {}});
}

void Outline::begin(const BlockMark& mark) {
    launches_.back().blocks.push_back({{mark.at.begin(), mark.at.end()}, mark.times, {}});
    block().passages.emplace_back().total = mark.times;
    open_.clear();
    tiles_.clear();
    loops_ = loops_outside_ = 0;
    after_ = 0;
    codes_.clear();
}

Index Outline::code_of_next_loop() {
    const std::pair place =
        open_.empty() ? std::pair{Index{-1}, loops_outside_++} : std::pair{open_.back().code, open_.back().within++};
    return codes_.emplace(place, std::ssize(codes_)).first->second;
}

void Outline::begin(const LoopMark& mark) {
    const std::vector<Axis>& axes = launches_.back().axes;
    const bool axis = std::any_of(axes.begin(), axes.end(), [](const Axis& a) { return a.promise == Promise::graded; });
    // Within another graded loop, the grade of that loop decides.
    const bool outermost =
        std::all_of(open_.begin(), open_.end(), [](const Open& o) { return o.by_axis || !o.tiles.graded(); });
    open_.push_back({loops_++, code_of_next_loop(), mark.tiles, axis && mark.tiles.graded() && outermost});
}

void Outline::turn(const TurnMark& mark) {
    Open& loop = open_.back();
    Passage p;
    p.deeds.reserve(16);
    p.loop = loop.number;
    p.code = loop.code;
    loop.within = 0;
    p.total = mark.times;
    if (loop.by_axis) {
        for (const Open& around : open_)
            if (!around.by_axis) p.each *= around.tiles.count();
        p.per = mark.tile.size == loop.tiles.tile_size() ? Passage::Per::full_tile : Passage::Per::ragged_tile;
    }
    loop.passage = block().passages.size();
    block().passages.push_back(std::move(p));
}

void Outline::end(const LoopMark&) {
    ended_ = open_.back().code, after_ = 0;
    open_.pop_back();
}

/// Where an operation that is done `times` times belongs. Some of the blocks only may do what follows a pipelined loop:
/// that is one more passage of this loop.
Passage& Outline::passage(Count times) {
    std::vector<Passage>& all = block().passages;
    if (!open_.empty()) return all[open_.back().passage];
    if (times == block().blocks || loops_ == 0) return all[0];
    if (after_ == 0 || all[after_].total != times) {
        after_ = all.size();
        all.push_back({.deeds = {}, .loop = loops_ - 1, .code = ended_, .total = times});
    }
    return all[after_];
}

void Outline::on(const Event& e, TileData) {
    // Ids count up: a tile that is not known yet has just been made.
    if (e.out != no_tile && e.tile && tiles_.size() <= e.out) {
        tiles_.resize(e.out + 1, Deed::Use{}.tile);
        tiles_[e.out] = *e.tile;
        tiles_[e.out].name = names_.emplace_back(e.tile->name).c_str();
    }
    if (!works(e.kind()) || e.operation->access == Access::in_passing) return;
    const auto use = [&](TileId id) { return id < tiles_.size() ? Deed::Use{tiles_[id], id} : Deed::Use{}; };
    Deed d{e.operation,
           use(e.out),
           {use(e.a()), use(e.b())},
           e.alpha != 1 || e.factor != no_tile,
           {e.reads[0].transposed, e.reads[1].transposed},
           e.cost};
    d.math = e.math;
    LaunchOutline& launch = launches_.back();
    if (e.kind() == Kind::product && e.math == Dtype::f32) launch.multiplies_f32 = true;
    if (e.lane) d.lane = e.lane->name, launch.has_lanes = true;
    if (e.kind() == Kind::store) std::swap(d.out, d.reads[0]);
    passage(e.times).deeds.push_back(d);
}

}  // namespace tilescope
