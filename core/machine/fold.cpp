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
    const Seen::Sums sums = range.seen->sums(tiles);
    // What sees most is at one end, what sees nothing at the other.
    const Seen::Sum &s = sums.seeing, &blind = sums.blind;
    const bool falls = sums.most == 0;
    const Index least = falls ? tiles.full() - 1 : 0;
    if (blind.members > 0) out.push_back({least, blind.members, 0, 0, falls ? s.members : 0});
    if (s.members > 0) out.push_back({sums.most, s.members, s.full, s.ragged, falls ? 0 : blind.members});
    if (!tiles.ragged()) return;
    const Tiles seen = (*range.seen)(tiles[tiles.full()]);
    out.push_back({tiles.full(), 1, seen.full(), seen.ragged()});
}

}  // namespace

void representatives(const Axis& range, std::vector<Representative>& out) {
    out.clear();
    if (range.promise == Promise::uniform) return represent_uniform(range.tiles, out);
    if (range.promise == Promise::graded) return represent_graded(range, out);
    for (Index k = 0; k < range.tiles.count(); ++k) out.push_back({k});
}

}  // namespace tilescope
