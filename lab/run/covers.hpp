// How many tiles of a problem a mask hides, crosses or leaves whole.
#pragma once

#include <string>

#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// How many of a head's tiles a mask hides, crosses or leaves whole.
struct TileCovers {
    Count hidden = 0, partial = 0, whole = 0;
    Count all() const { return hidden + partial + whole; }
};
TileCovers covers_of(const Problem& problem, const Tiling& tiling);

/// For sentences; files have Mask::name(). "causal", "causal, 3 documents", "causal from the top left". Empty where
/// nothing is hidden.
std::string mask_words(const Problem& problem);

/// "Mask: causal. Of a head's 64 tiles, 28 (44%) are hidden, ...", and the mask's own bytes; empty without a mask.
std::string about_mask(const Experiment& experiment);

}  // namespace tilescope::lab
