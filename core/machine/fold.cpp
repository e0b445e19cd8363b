#include "core/machine/fold.hpp"

namespace tilescope {
namespace {

void represent_uniform(const Tiles& tiles, std::vector<Representative>& out) {
    if (tiles.full() > 0) out.push_back({0, tiles.full()});
    if (tiles.ragged()) out.push_back({tiles.full()});
}

/// Of the full tiles, one that sees most for all that see something, and one for those that see nothing.
void represent_graded(const Axis& range, std::vector<Representative>& out) {
    const Tiles& tiles = range.tiles;
    const auto alone = [&](Index k) {
        const Tiles seen = (*range.seen)(tiles[k]);
        out.push_back({k, 1, seen.full(), seen.ragged(), k});
    };
    const auto [blind, seeing] = range.seen->sums(tiles);
    if (blind.members > 0) out.push_back({blind.position, blind.members, 0, 0, blind.first});
    const Tiles most = (*range.seen)(tiles[seeing.position]);
    if ((seeing.full > 0 && most.full() == 0) || (seeing.ragged > 0 && !most.ragged())) {
        // No single tile sees both a full and a ragged one: none can stand for all.
        for (Index k = 0; k < tiles.full(); ++k)
            if ((*range.seen)(tiles[k]).count() > 0) alone(k);
    } else if (seeing.members > 0) {
        out.push_back({seeing.position, seeing.members, seeing.full, seeing.ragged, seeing.first});
    }
    if (tiles.ragged()) alone(tiles.full());
}

}  // namespace

void representatives(const Axis& range, std::vector<Representative>& out) {
    out.clear();
    if (range.promise == Promise::uniform) return represent_uniform(range.tiles, out);
    if (range.promise == Promise::graded) return represent_graded(range, out);
    for (Index k = 0; k < range.tiles.count(); ++k) out.push_back({k});
}

}  // namespace tilescope
