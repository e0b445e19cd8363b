#include "core/machine/fold.hpp"

namespace tilescope {
namespace {

void represent_uniform(const Tiles& tiles, std::vector<Representative>& out) {
    if (tiles.full() > 0) out.push_back({0, tiles.full()});
    if (tiles.ragged()) out.push_back({tiles.full()});
}

/// Of the full tiles, the one that sees most stands for all that see something; another for all that see nothing.
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
        // No tile sees both a full and a ragged inner tile, so none can stand for all.
        for (Index k = 0; k < tiles.full(); ++k)
            if ((*range.seen)(tiles[k]).count() > 0) alone(k);
    } else if (seeing.members > 0) {
        out.push_back({seeing.position, seeing.members, seeing.full, seeing.ragged, seeing.first});
    }
    if (tiles.ragged()) alone(tiles.full());
}

/// Some tiles of a graded axis, each with all its parts.
struct Sharers {
    Index from, last;    ///< the first of these tiles, and the last
    Index first, whole;  ///< the first that sees anything, and the first that sees the last inner tile
    Index blind;         ///< one that sees nothing; the first where there is none
    Count members, seeing, full, ragged;
};

class PartsFold {
  public:
    PartsFold(const Axis& range, const Tiles& parts, std::vector<Representative>& out)
        : seen_(*range.seen), tiles_(range.tiles), parts_(parts), out_(out) {}

    void represent() {
        if (seen_.scattered()) return represent_each();
        const Index size = parts_.tile_size();
        if (const Index n = tiles_.full(); n > 0) {
            const auto [blind, seeing] = seen_.sums(tiles_);
            add({0, n - 1, seeing.first, seen_.first_to_see_last(tiles_), blind.members > 0 ? blind.position : 0,
                 n * parts_.count(), seen_.pieces(tiles_, size), seeing.full, seeing.ragged});
        }
        if (const Index k = tiles_.full(); tiles_.ragged()) {
            const Tiles sees = seen_(tiles_[k]);
            add({k, k, k, k, k, parts_.count(), seen_.pieces(tiles_[k], size), sees.full(), sees.ragged() ? 1 : 0});
        }
    }

  private:
    /// Where any part of any tile may be empty, no block stands for another.
    void represent_each() {
        for (Index tile = 0; tile < tiles_.count(); ++tile)
            for (Index part = 0; part < parts_.count(); ++part) {
                const Tiles seen = sees(tile, part);
                out_.push_back({at(tile, part), 1, seen.full(), seen.ragged() ? 1 : 0, at(tile, part)});
            }
    }

    Tiles sees(Index tile, Index part) const { return seen_(tiles_[tile]).within(parts_[part]); }
    Index at(Index tile, Index part) const { return tile * parts_.count() + part; }

    /// Adds representatives of a group of blocks. One block that sees nothing stands for all blocks that see nothing.
    /// Of the other blocks one that sees full and ragged inner tiles stands for all. Where no block sees both, one that
    /// sees a ragged tile stands for its like, and one that sees full tiles for the rest.
    void add(Sharers s) {
        if (const Count blind = s.members - s.seeing; blind > 0) {
            // The visible part moves on with the tiles. If each tile sees something but some part is empty, then the
            // last part of the first tile or the first part of the last tile is empty.
            const Index end = parts_.count() - 1;
            const Index empty = seen_(tiles_[s.blind]).count() == 0 ? at(s.blind, 0)
                                : sees(s.from, end).count() == 0    ? at(s.from, end)
                                                                    : at(s.last, 0);
            out_.push_back({empty, blind, 0, 0, empty});
        }
        if (s.seeing == 0) return;
        const Index first = at(s.first, seen_(tiles_[s.first])[0].begin / parts_.tile_size());
        if (s.ragged > 0) {
            const Index part = (seen_.extent() - 1) / parts_.tile_size(), last = at(s.whole, part);
            if (sees(s.whole, part).full() > 0) {
                out_.push_back({last, s.seeing, s.full, s.ragged, first});
                return;
            }
            out_.push_back({last, s.ragged, 0, s.ragged, last});
        }
        if (s.seeing > s.ragged) out_.push_back({first, s.seeing - s.ragged, s.full, 0, first});
    }

    const Seen& seen_;
    const Tiles& tiles_;
    const Tiles& parts_;
    std::vector<Representative>& out_;
};

}  // namespace

void representatives(std::span<const Axis> axes, std::size_t k, std::vector<Representative>& out) {
    out.clear();
    if (axes[k].promise == Promise::parts)
        out.push_back({0});
    else if (const Tiles* parts = parts_of(axes, k))
        PartsFold(axes[k], *parts, out).represent();
    else
        representatives(axes[k], out);
}

void representatives(const Axis& range, std::vector<Representative>& out) {
    out.clear();
    if (range.promise == Promise::uniform) return represent_uniform(range.tiles, out);
    if (range.promise == Promise::graded) return represent_graded(range, out);
    for (Index k = 0; k < range.tiles.count(); ++k) out.push_back({k});
}

}  // namespace tilescope
