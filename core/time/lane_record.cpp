#include "core/time/lane_record.hpp"

#include <algorithm>

namespace tilescope {

void LaneRecord::on(const Event& e) {
    if (e.out != no_tile && e.tile) {
        if (tiles_.size() <= e.out) tiles_.resize(e.out + 1, {"", 0, 0, Dtype::f32, Space::registers});
        if (tiles_[e.out].rows == 0) tiles_[e.out] = *e.tile, tiles_[e.out].name = keep(e.tile->name);
    }
    const bool counts = works(e.kind()) && e.operation->access != Access::in_passing;
    if (!counts && e.kind() != Kind::release) return;
    RecordedEvent& r = events_.emplace_back(RecordedEvent{e, 0, loops_.empty() ? -1 : loops_.back()});
    r.event.lane = nullptr, r.event.tile = nullptr;
    if (!counts) return;
    r.lane = lane_of(e);
    const bool fills = e.kind() == Kind::load && in_ring(tiles_[e.out]);
    if (fills || e.operation->operates == Operates::transposed) count_slots(tiles_[e.out]);
    lanes_[r.lane].fills_ring |= fills;
    lanes_[r.lane].computes |= e.kind() != Kind::load;
    lanes_[r.lane].multiplies |= e.kind() == Kind::product;
}

std::size_t LaneRecord::lane_of(const Event& e) {
    const std::string name = e.lane ? e.lane->name : "";
    for (std::size_t l = 0; l < lanes_.size(); ++l)
        if (lanes_[l].name == name) return l;
    lanes_.push_back({name, e.lane ? e.lane->spec : LaneSpec{}});
    return lanes_.size() - 1;
}

/// An event does not say how many slots a ring has: as many as have room for its largest tile, and those that were
/// seen.
void LaneRecord::count_slots(const TileInfo& loaded) {
    auto ring =
        std::find_if(rings_.begin(), rings_.end(), [&](const RecordedRing& r) { return r.id == loaded.within; });
    const Index room = tiles_[loaded.within].bytes() / std::max<Bytes>(1, loaded.bytes());
    if (ring == rings_.end()) ring = rings_.insert(ring, {loaded.within, room});
    ring->slots = std::max(std::min(ring->slots, room), loaded.slot + 1);
}

const char* LaneRecord::keep(const char* name) {
    for (const std::string& known : names_)
        if (known == name) return known.c_str();
    return names_.emplace_back(name).c_str();
}

}  // namespace tilescope
