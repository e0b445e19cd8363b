// The tile shapes that kernel_sm90a.cu is compiled for, and the threads and shared memory of a thread block.
#pragma once

#include "algorithms/contract/roles.hpp"
#include "algorithms/cuda/kernel.hpp"

namespace tilescope::flash_v3 {

/// Warpgroups of 64 rows, and, where warps are specialised, one of producers.
constexpr Index threads_of(Index br, Index specialised) { return 128 * ((specialised == on ? 1 : 0) + br / 64); }
/// Q, and the slots of K and V together. S, P and O are in registers.
constexpr Bytes tiles_of(Index br, Index bc, Index d, Index slots) { return 2 * (br * d + slots * bc * d); }
inline constexpr Bytes barriers = 1024;  // rounded up to what tiles are aligned to

/// The knobs that are a kernel's own choice. Half of the slots are K's, half are V's.
struct Switches {
    Index slots = 4, turns = on, overlap = on, specialised = on, cluster = 1, persistent = dealt_in_pairs;
};
constexpr KernelVariant variant(Dtype dtype, Index br, Index bc, Index d, Switches s = {}) {
    Tiling t{br, bc};
    t.slots = s.slots, t.turns = s.turns, t.overlap = s.overlap, t.specialised = s.specialised, t.cluster = s.cluster,
    t.persistent = s.persistent;
    return on_hopper({dtype, t, d, d, threads_of(br, s.specialised), tiles_of(br, bc, d, s.slots), barriers});
}

inline constexpr KernelVariant kernels[] = {
    variant(Dtype::f16, 192, 128, 64),
    variant(Dtype::bf16, 192, 128, 64),
    variant(Dtype::f16, 128, 128, 128),
    variant(Dtype::bf16, 128, 128, 128),
    variant(Dtype::f16, 128, 176, 128),
    variant(Dtype::bf16, 128, 176, 128),
    variant(Dtype::f16, 128, 80, 256),
    variant(Dtype::bf16, 128, 80, 256),
    // What each choice is worth. Without a producer warpgroups meet, and take no turns.
    variant(Dtype::f16, 128, 128, 128, {.turns = off}),
    variant(Dtype::f16, 128, 128, 128, {.overlap = off}),
    variant(Dtype::f16, 128, 128, 128, {.turns = off, .overlap = off}),
    variant(Dtype::f16, 128, 128, 128, {.slots = 6}),
    variant(Dtype::f16, 128, 128, 128, {.persistent = a_block_each}),
    variant(Dtype::f16, 128, 128, 128, {.cluster = 2}),
    variant(Dtype::f16, 128, 128, 128, {.turns = off, .specialised = off}),
};

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);
/// Defined in kernel_sm90a.cu, which is compiled for compute capability 9.0 alone.
void launch_sm90a(const KernelCall& call);

}  // namespace tilescope::flash_v3
