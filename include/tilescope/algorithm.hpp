// All that the author of an algorithm includes. docs/own-algorithm.md is the guide.
#pragma once

#include <cmath>
#include <limits>

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/announce.hpp"
#include "algorithms/contract/tile_sums.hpp"
#include "core/machine/gpu_spec.hpp"
#include "core/machine/gradient_ops.hpp"
#include "core/machine/lane.hpp"
#include "core/machine/ops.hpp"

/// Announces an algorithm: `TILESCOPE_ALGORITHM({.name = "mine", ...});`, or any expression that makes one, outside of
/// functions. It is asked for when algorithms are. In a program that TileScope is linked to it is among algorithms()
/// from the first use on; in a shared object whoever loads that finds it.
#define TILESCOPE_ALGORITHM(...) TILESCOPE_ANNOUNCE(__COUNTER__, __VA_ARGS__)
#define TILESCOPE_ANNOUNCE(number, ...) TILESCOPE_ANNOUNCED(number, __VA_ARGS__)
#define TILESCOPE_ANNOUNCED(number, ...)                              \
    [[maybe_unused]] static const bool tilescope_announced_##number = \
        ::tilescope::announce([]() -> ::tilescope::Algorithm { return __VA_ARGS__; }, __FILE__)

/// What a loader looks for: a function of C, for nothing may be thrown while an object is loaded.
extern "C" [[gnu::visibility("default"), gnu::used]] inline const tilescope::Offer* tilescope_offer() {
    return tilescope::offered();
}
