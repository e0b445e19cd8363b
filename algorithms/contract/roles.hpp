// Knobs of kernels whose warps have roles: a producer that loads, warpgroups that compute (arXiv 2407.08608, section
// 3).
#pragma once

#include "algorithms/contract/knobs.hpp"

namespace tilescope {

/// The values of the knobs below that are switches.
inline constexpr Index off = 1, on = 2;
inline constexpr const char* switch_names[] = {"off", "on"};

/// How the thread blocks of a launch get their row tiles.
inline constexpr Index a_block_each = 1;  ///< a thread block for each tile
inline constexpr Index dealt = 2;         ///< the thread blocks that SMs hold take every so-many-th tile
inline constexpr Index counted = 3;       ///< the same thread blocks take the next tile when they are done with one
inline constexpr const char* persistent_names[] = {"off", "static", "counter"};

inline constexpr Knob slots_knob = {"slots", "slots", &Tiling::slots, {}, false, 16, "flag.slots"};
inline constexpr Knob warpgroups_knob = {"warpgroups",     "warpgroups", &Tiling::warpgroups, {}, false, 3,
                                         "flag.warpgroups"};

/// A knob of a choice by name, called as its flag is.
constexpr Knob choice(const char* name, Index Tiling::*value, std::span<const char* const> names, const char* about) {
    return {name, name, value, names, false, 0, about};
}
inline constexpr Knob turns_knob = choice("turns", &Tiling::turns, switch_names, "flag.turns");
inline constexpr Knob overlap_knob = choice("overlap", &Tiling::overlap, switch_names, "flag.overlap");
inline constexpr Knob specialised_knob = choice("specialised", &Tiling::specialised, switch_names, "flag.specialised");
inline constexpr Knob cluster_knob = {"cluster", "cluster", &Tiling::cluster, {}, false, 2, "flag.cluster"};
inline constexpr Knob persistent_knob = choice("persistent", &Tiling::persistent, persistent_names, "flag.persistent");

}  // namespace tilescope
