// The only header that the author of an algorithm has to include. docs/own-algorithm.md is the guide.
#pragma once

#include <cmath>
#include <limits>

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/announce.hpp"
#include "algorithms/contract/scores.hpp"
#include "algorithms/contract/tile_sums.hpp"
#include "core/machine/gpu_spec.hpp"
#include "core/machine/gradient_ops.hpp"
#include "core/machine/lane.hpp"
#include "core/machine/ops.hpp"

/// Announces an algorithm: `TILESCOPE_ALGORITHM({.name = "mine", ...});`, or any expression that makes an Algorithm,
/// outside of functions. The expression is evaluated only when a program asks for algorithms. If the program is linked
/// with TileScope, algorithms() has the algorithm from its first call on. If the algorithm is in a shared object, the
/// program that loads the object finds it.
#define TILESCOPE_ALGORITHM(...) TILESCOPE_ANNOUNCE(__COUNTER__, __VA_ARGS__)
#define TILESCOPE_ANNOUNCE(number, ...) TILESCOPE_ANNOUNCED(number, __VA_ARGS__)
#define TILESCOPE_ANNOUNCED(number, ...)                              \
    [[maybe_unused]] static const bool tilescope_announced_##number = \
        ::tilescope::announce([]() -> ::tilescope::Algorithm { return __VA_ARGS__; }, __FILE__)

/// The function that a loader looks for. It is a C function, because nothing may be thrown while an object is loaded.
extern "C" [[gnu::visibility("default"), gnu::used]] inline const tilescope::Offer* tilescope_offer() {
    return tilescope::offered();
}
