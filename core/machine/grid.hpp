// The grid of a launch, and what its axes, like the loops of a thread block, promise about their tiles.
#pragma once

#include <optional>

#include "core/machine/seen.hpp"

namespace tilescope {

/// What a range of tiles promises. Counting runs few tiles and relies on it; exact modes run all and check it.
enum class Promise : std::uint8_t {
    none,     ///< every tile is run
    uniform,  ///< all full tiles cost the same
    graded,   ///< the cost of a full tile is affine in the number of tiles that it sees of an inner range
    parts,    ///< a part is some inner tiles of the graded axis before: cost affine in how many of these are seen
};

/// One axis of a launch's grid: a thread block per tile.
struct Axis {
    Tiles tiles;
    Promise promise = Promise::none;
    std::optional<Seen> seen = {};  ///< of a graded axis
    bool ordered = false;           ///< its thread blocks take turns: see ordered()
};
inline Axis uniform(Tiles t) { return {t, Promise::uniform}; }
inline Axis uniform(Index n, const char* name = "") { return {Tiles(n, 1, name), Promise::uniform}; }
inline Axis graded(Tiles t, Seen seen) { return {t, Promise::graded, seen}; }
inline Axis parts(Tiles t) { return {t, Promise::parts}; }
inline Axis each(Tiles t) { return {t, Promise::none}; }
/// Thread blocks along this axis take turns, in this order, at elements in HBM that they share, as under a lock.
inline Axis ordered(Axis a) { return a.ordered = true, a; }

}  // namespace tilescope
