// What the kernel here is compiled for. It is apart from kernel.hpp because the time model compares a run with kernels
// that were measured, and an algorithm is complete without what kernels need.
#pragma once

#include "algorithms/contract/roles.hpp"

namespace tilescope::flash_v3 {

/// An instance of the kernel: in this type, with this head dimension of Q, K, V and O, these tiles and these roles.
struct Compiled {
    Dtype dtype;
    Index dim;
    Tiling tile;
    bool causal = false;  ///< the default under a causal mask
};

/// The knobs that are a kernel's own choice. Half of the slots are K's, half are V's.
struct Switches {
    Index slots = 4, turns = on, overlap = on, specialised = on, cluster = 1, persistent = dealt_in_pairs;
};
constexpr Compiled compiled(Dtype dtype, Index br, Index bc, Index dim, Switches s = {}) {
    Tiling t{br, bc};
    t.slots = s.slots, t.warpgroups = br / 64, t.turns = s.turns, t.overlap = s.overlap, t.specialised = s.specialised,
    t.cluster = s.cluster, t.persistent = s.persistent;
    return {dtype, dim, t};
}

constexpr Compiled under_causal_masks(Compiled c) { return c.causal = true, c; }

/// Of each type, head dimension and tiles the one without switches comes first.
inline constexpr Compiled compiled_kernels[] = {
    compiled(Dtype::f16, 192, 128, 64),
    compiled(Dtype::bf16, 192, 128, 64),
    compiled(Dtype::f16, 128, 128, 128),
    compiled(Dtype::bf16, 128, 128, 128),
    compiled(Dtype::f16, 128, 176, 128),
    compiled(Dtype::bf16, 128, 176, 128),
    compiled(Dtype::f16, 128, 80, 256),
    compiled(Dtype::bf16, 128, 80, 256),
    compiled(Dtype::e4m3, 192, 128, 64, {.slots = 6}),
    compiled(Dtype::e4m3, 192, 96, 128, {.slots = 6, .turns = off}),
    under_causal_masks(compiled(Dtype::e4m3, 128, 192, 128)),
    // What each choice is worth. Without a producer warpgroups meet, and take no turns.
    compiled(Dtype::f16, 128, 128, 128, {.turns = off}),
    compiled(Dtype::f16, 128, 128, 128, {.overlap = off}),
    compiled(Dtype::f16, 128, 128, 128, {.turns = off, .overlap = off}),
    compiled(Dtype::f16, 128, 128, 128, {.slots = 6}),
    compiled(Dtype::f16, 128, 128, 128, {.persistent = a_block_each}),
    compiled(Dtype::f16, 128, 128, 128, {.cluster = 2}),
    compiled(Dtype::f16, 128, 128, 128, {.turns = off, .specialised = off}),
};

}  // namespace tilescope::flash_v3
