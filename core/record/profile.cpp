#include "core/record/profile.hpp"

namespace tilescope {
namespace {

void note_tile(std::vector<TileUse>& tiles, const TileInfo& t) {
    for (TileUse& u : tiles)
        if (u.name == t.name && u.space == t.space) {
            if (t.rows * t.cols > u.rows * u.cols) u.rows = t.rows, u.cols = t.cols;
            return;
        }
    tiles.push_back({t.name, t.space, t.dtype, t.rows, t.cols});
}

}  // namespace

void Profile::on(const Event& e, TileData) {
    if (e.kind() == Kind::release) return;
    LineProfile& line = lines_[e.line];
    line.cost.add(e.cost, e.times);
    if (e.moves_data()) line.traffic[e.region.tensor] += Traffic::of(e.cost).times(e.times);
    if (e.kind() == Kind::load || e.kind() == Kind::alloc) note_tile(line.tiles, *e.tile);
}

}  // namespace tilescope
