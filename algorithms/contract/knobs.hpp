// What a mapping chooses: each algorithm declares the knobs that its program turns.
#pragma once

#include <span>

#include "algorithms/contract/problem.hpp"

namespace tilescope {

struct Knob {
    const char* name;    ///< as a flag, without dashes: "br"
    const char* symbol;  ///< in the papers: "Br"
    const char* meaning;
    Index Tiling::*value;
};

using Knobs = std::span<const Knob>;

/// Tiles of rows and columns: all that most programs leave open.
inline constexpr Knob tile_knobs[] = {{"br", "Br", "rows of a tile: of Q and O, or of the matrix", &Tiling::br},
                                      {"bc", "Bc", "columns of a tile: keys, or columns of the matrix", &Tiling::bc}};

}  // namespace tilescope
