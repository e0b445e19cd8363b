// All that the author of an algorithm includes. docs/own-algorithm.md is the guide.
#pragma once

#include <cmath>
#include <limits>

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/announce.hpp"
#include "algorithms/contract/tile_sums.hpp"
#include "core/machine/gradient_ops.hpp"
#include "core/machine/ops.hpp"

/// Announces the algorithm that a function describes: `TILESCOPE_ALGORITHM(describe);`, once for each, outside of
/// functions. In a program that TileScope is linked to it is among algorithms() from the first use on; in a shared
/// object whoever loads that finds it.
#define TILESCOPE_ALGORITHM(describe) TILESCOPE_ANNOUNCE(describe, __COUNTER__)
#define TILESCOPE_ANNOUNCE(describe, number) TILESCOPE_ANNOUNCED(describe, number)
#define TILESCOPE_ANNOUNCED(describe, number) \
    [[maybe_unused]] static const bool tilescope_announced_##number = ::tilescope::announce(describe, __FILE__)

/// What a loader looks for: a function of C, for nothing may be thrown while an object is loaded.
extern "C" [[gnu::visibility("default"), gnu::used]] inline const tilescope::Offer* tilescope_offer() {
    return tilescope::offered();
}
