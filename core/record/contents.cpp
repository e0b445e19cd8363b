#include "core/record/contents.hpp"

#include <cstring>

namespace tilescope {

std::optional<std::size_t> Contents::find(const std::vector<float>& values, const Event& event, TileId stored,
                                          TileData data) const {
    const auto lies_at = [&](const Place& p) {
        return p.size == data.size() &&
               (data.empty() || std::memcmp(values.data() + p.first, data.data(), data.size_bytes()) == 0);
    };
    if (event.kind() == Kind::store && stored < of_tile_.size() && lies_at(of_tile_[stored]))
        return of_tile_[stored].first;
    if (!event.moves_data()) return std::nullopt;
    const auto left = of_region_.find(event.region);
    if (left != of_region_.end() && lies_at(left->second)) return left->second.first;
    return std::nullopt;
}

void Contents::note(const Step& step) {
    const Place place{step.first_value, step.values};
    if (step.moves_data()) of_region_[step.event.region] = place;
    if (step.event.out == no_tile) return;
    if (step.event.out >= of_tile_.size()) of_tile_.resize(step.event.out + 1, Place{});
    of_tile_[step.event.out] = place;
}

}  // namespace tilescope
