// The grid of a launch, and what its axes, like the loops of a thread block, promise about their tiles.
#pragma once

#include <optional>
#include <span>

#include "core/machine/seen.hpp"

namespace tilescope {

/// What a range of tiles promises. Counting runs few of them and believes it; exact modes run all and check it.
enum class Promise : std::uint8_t {
    none,     ///< every tile is run
    uniform,  ///< all full tiles cost the same
    graded,   ///< the cost of a full tile is affine in how many tiles it sees of an inner range
    parts,    ///< of an axis after a graded one: the inner range is cut into these, and the cost is affine in how many
              ///< tiles a tile of that axis sees of one of them
};

/// One axis of a launch's grid: a thread block per tile.
struct Axis {
    Tiles tiles;
    Promise promise = Promise::none;
    std::optional<Seen> seen = {};  ///< of a graded axis
};
inline Axis uniform(Tiles t) { return {t, Promise::uniform}; }
inline Axis uniform(Index n, const char* name = "") { return {Tiles(n, 1, name), Promise::uniform}; }
inline Axis graded(Tiles t, Seen seen) { return {t, Promise::graded, seen}; }
/// `t`: as the inner range of the graded axis before this one counts, in whole inner tiles; parts beyond it are empty.
inline Axis parts(Tiles t) { return {t, Promise::parts}; }
inline Axis each(Tiles t) { return {t, Promise::none}; }

/// The parts of what tiles of axis k see; nullptr where these are not cut.
inline const Tiles* parts_of(std::span<const Axis> axes, std::size_t k) {
    return k + 1 < axes.size() && axes[k + 1].promise == Promise::parts ? &axes[k + 1].tiles : nullptr;
}
/// The inner tiles that a block of the grid sees, where an axis is graded.
inline std::optional<Tiles> seen_at(std::span<const Axis> axes, const Span* at) {
    for (std::size_t k = 0; k < axes.size(); ++k)
        if (axes[k].promise == Promise::graded) {
            const Tiles seen = (*axes[k].seen)(at[k]);
            return parts_of(axes, k) ? seen.within(at[k + 1]) : seen;
        }
    return std::nullopt;
}

}  // namespace tilescope
