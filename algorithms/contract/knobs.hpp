// What a mapping chooses: each algorithm declares the knobs that its program has.
#pragma once

#include <algorithm>
#include <span>

#include "algorithms/contract/problem.hpp"

namespace tilescope {

struct Knob {
    const char* name;    ///< as a flag, without dashes: "br"
    const char* symbol;  ///< in the papers: "Br"
    Index Tiling::*value;
};

using Knobs = std::span<const Knob>;

inline constexpr Knob br_knob = {"br", "Br", &Tiling::br};
inline constexpr Knob bc_knob = {"bc", "Bc", &Tiling::bc};
inline constexpr Knob splits_knob = {"splits", "S", &Tiling::splits};

/// Tile rows and columns: the only knobs of most programs.
inline constexpr Knob tile_knobs[] = {br_knob, bc_knob};
/// Tiles, and parts of the keys.
inline constexpr Knob split_knobs[] = {br_knob, bc_knob, splits_knob};

inline bool has_splits(Knobs knobs) {
    return std::any_of(knobs.begin(), knobs.end(), [](const Knob& k) { return k.value == &Tiling::splits; });
}

}  // namespace tilescope
