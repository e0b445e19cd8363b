// What a mask leaves of the tiles of a problem.
#pragma once

#include <string>

#include "lab/experiment.hpp"

namespace tilescope::lab {

/// Of a head's tiles.
struct TileCovers {
    Count hidden = 0, partial = 0, whole = 0;
    Count all() const { return hidden + partial + whole; }
};
TileCovers covers_of(const Problem& problem, const Tiling& tiling);

/// " from the top left" where the diagonal of masks and ALiBi begins there; else nothing.
const char* corner_words(const Problem& problem);
/// "none", "causal", "causal from the top left".
std::string mask_words(const Problem& problem);

/// "28 of 64 tiles of a head are hidden (44%): ...", and what of the mask itself is charged; empty without a mask.
std::string about_mask(const Experiment& experiment);

}  // namespace tilescope::lab
