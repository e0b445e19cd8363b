#include "core/record/accesses.hpp"

namespace tilescope {

void Accesses::begin(const LaunchMark& mark) {
    LaunchAccesses l;
    l.heads = mark.axes.empty() ? 1 : mark.axes[0].tiles.count();
    l.blocks = 1;
    for (std::size_t k = 1; k < mark.axes.size(); ++k) l.blocks *= mark.axes[k].tiles.count();
    per_head_ = l.blocks;
    known_.clear();
    launches_.push_back(std::move(l));
}

void Accesses::begin(const BlockMark&) {
    step_ = 0;
    launches_.back().block.emplace_back();
}

void Accesses::on(const Event& e, TileData) {
    if (!e.moves_data() || e.cost.hbm() == 0) return;
    LaunchAccesses& l = launches_.back();
    const auto [at, is_new] = known_.try_emplace(e.region, static_cast<std::uint32_t>(l.tiles.size()));
    if (is_new) l.tiles.push_back({e.region.tensor, e.cost.hbm(), e.region.rows});
    l.block.back().push_back({at->second, step_, e.kind() == Kind::store});
}

}  // namespace tilescope
