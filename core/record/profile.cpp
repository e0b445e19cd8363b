#include "core/record/profile.hpp"

#include <algorithm>

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

void Profile::visit(const LineMark& mark) {
    leave_line();
    line_ = mark.line;
    lines_[mark.line].visits += mark.times;
}

/// Notes what the lanes of the line have asked for by now.
void Profile::leave_line() {
    if (line_ == no_line || flying_.empty()) return;
    LineProfile& line = lines_[line_];
    for (const Flying& f : flying_)
        if (line.lanes.count(f.lane) > 0) line.in_flight.insert(f.name);
}

/// A lane waits for a product when it uses the result, other than by adding a product to it, and when it gives back
/// registers that the product reads.
void Profile::note_lane(LineProfile& line, const Event& e) {
    const auto waits = [&](const Flying& f) {
        const bool uses = f.out == e.a() || f.out == e.b() || (f.out == e.out && e.kind() != Kind::product);
        return uses && e.kind() != Kind::alloc;
    };
    std::erase_if(flying_, waits);
    if (!e.lane) return;
    const std::string name = e.lane->name;
    line.lanes.insert(name);
    if (std::none_of(lanes_.begin(), lanes_.end(), [&](const auto& known) { return known.first == name; }))
        lanes_.emplace_back(name, e.lane->spec);
    if (e.kind() == Kind::load && e.tile->space == Space::sram) line.in_flight.insert(e.tile->name);
    if (e.kind() == Kind::product) flying_.push_back({name, e.tile->name, e.out, e.a(), e.b()});
}

void Profile::on(const Event& e, TileData) {
    if (e.kind() == Kind::release) {
        const bool waits = e.tile->space == Space::registers;
        std::erase_if(flying_, [&](const Flying& f) { return waits && (f.a == e.out || f.b == e.out); });
        return;
    }
    LineProfile& line = lines_[e.line];
    if (e.lane || !flying_.empty()) note_lane(line, e);
    line.cost.add(e.cost, e.times);
    if (e.moves_data()) line.traffic[e.region.tensor] += Traffic::of(e.cost).times(e.times);
    if (e.kind() == Kind::load || e.kind() == Kind::alloc) note_tile(line.tiles, *e.tile);
}

}  // namespace tilescope
