// Knobs of kernels whose warps have roles: a producer that loads, warpgroups that compute (arXiv 2407.08608, section
// 3).
#pragma once

#include "algorithms/contract/knobs.hpp"

namespace tilescope {

/// The values of the knobs below that are switches.
inline constexpr Index off = 1, on = 2;
inline constexpr const char* switch_names[] = {"off", "on"};

/// How the thread blocks of a launch get their row tiles.
inline constexpr Index a_block_each = 1;    ///< a thread block for each tile
inline constexpr Index dealt = 2;           ///< the thread blocks that SMs hold take every so-many-th tile
inline constexpr Index dealt_in_pairs = 3;  ///< like dealt, but a long tile and a short one together: see in_pairs()
inline constexpr Index by_counter = 4;      ///< the same thread blocks take the next tile when they are done with one
inline constexpr const char* persistent_names[] = {"off", "static", "paired", "counter"};

/// Whether there are pairs to deal out: a causal mask makes some row tiles shorter than others.
inline bool in_pairs(const Problem& p, const Tiling& t) {
    return t.persistent == dealt_in_pairs && p.mask.is_causal() && p.diagonal() < p.seq_k - 1;
}

inline constexpr Knob slots_knob = {
    .name = "slots", .symbol = "slots", .value = &Tiling::slots, .is_size = false, .most = 16, .about = "knob.slots"};
inline constexpr Knob warpgroups_knob = {.name = "warpgroups",
                                         .symbol = "warpgroups",
                                         .value = &Tiling::warpgroups,
                                         .is_size = false,
                                         .most = 3,
                                         .about = "knob.warpgroups"};
inline constexpr Knob turns_knob = {"turns", "turns", &Tiling::turns, switch_names, false, 0, "knob.turns"};
inline constexpr Knob overlap_knob = {"overlap", "overlap", &Tiling::overlap, switch_names, false, 0, "knob.overlap"};
inline constexpr Knob specialised_knob = {
    "specialised", "specialised", &Tiling::specialised, switch_names, false, 0, "knob.specialised"};
inline constexpr Knob cluster_knob = {.name = "cluster",
                                      .symbol = "cluster",
                                      .value = &Tiling::cluster,
                                      .is_size = false,
                                      .most = 2,
                                      .about = "knob.cluster"};
inline constexpr Knob persistent_knob = {
    "persistent", "persistent", &Tiling::persistent, persistent_names, false, 0, "knob.persistent"};

}  // namespace tilescope
