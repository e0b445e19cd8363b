// FlashAttention-3's knobs, and kernels of libraries that are built like it: data, each with version and source.
#pragma once

#include "algorithms/contract/kernel_description.hpp"
#include "algorithms/contract/roles.hpp"
#include "core/machine/lane_info.hpp"
#include "core/machine/tile.hpp"

namespace tilescope::flash_v3 {

/// What --like takes: NamedKernel::name of named_kernels, in their order.
inline constexpr const char* like_names[] = {"fa3-2024",  "fa3-2025",         "cudnn-9.19",       "triton-plain",
                                             "triton-ws", "triton-pipelined", "triton-ping-pong", "flex"};
inline constexpr Knob like_knob = {"like", "like", &Tiling::like, like_names, false, 0, "knob.like"};
inline constexpr Knob knobs[] = {br_knob,      bc_knob,          slots_knob,   warpgroups_knob, turns_knob,
                                 overlap_knob, specialised_knob, cluster_knob, persistent_knob, like_knob};

/// How the program's warps share the work of a row block. Follows from the knobs and the named kernel.
struct Roles {
    LaneSpec producer, consumer;
    bool specialised, overlap;
    bool apart;           ///< K and V have a ring each
    Index slots;          ///< of the ring that K goes through
    Index slots_of_v;     ///< of V's, where it has one
    Index cluster;        ///< thread blocks that receive each tile of K and V together
    Index width;          ///< columns of the ring that K goes through
    bool rescales_first;  ///< O is rescaled before P V is added, not after
    Space weights_in;     ///< where P lies as an operand of P V
};
/// Knobs that `tile` leaves open are filled in as complete() does.
Roles roles_of(const Problem& p, const Tiling& tile, const GpuSpec& gpu);

/// Fills in the knobs that are open, by the named kernel or, without one, by FlashAttention-3's current release.
Tiling complete(const Problem& p, Tiling given, const GpuSpec& gpu);
LanedKernel laned(const Problem& p, const Tiling& tile, const GpuSpec& gpu);
Index padded(Index dim, const Tiling& tile);
/// With --like the library's kernel; without, an instance of the kernel here.
std::optional<ComparedKernel> compared(const Problem& p, const Tiling& tile, const GpuSpec& gpu);
/// Row blocks ascending, head by head; longest first in fa3-2025, under a mask. From the last one on, head by head,
/// where they are dealt out in pairs or are a thread block each, as in the kernel here.
Order order(const Problem& p, const Tiling& tile);
/// The tiles of hopper/tile_size.h (Dao-AILab/flash-attention at 0251105a).
Tiling released_tiles(const Problem& p, const GpuSpec& gpu);

inline constexpr ReleasedKernel released = {.whose = "library.flash_attention_3",
                                            .file = "hopper/tile_size.h",
                                            .dim = 256,
                                            .compute_capability = 9.0,
                                            .on = "released.on_h100",
                                            .tiles = released_tiles};

}  // namespace tilescope::flash_v3
