// The tile shapes that kernel_sm90a.cu is compiled for, and the threads and shared memory of a thread block.
#pragma once

#include "algorithms/contract/roles.hpp"
#include "algorithms/cuda/kernel.hpp"

namespace tilescope::flash_v3 {

/// Warpgroups of 64 rows, and one of producers.
constexpr Index threads_of(Index br) { return 128 * (1 + br / 64); }
/// Q, and two slots each for K and V. S, P and O are in registers.
inline constexpr int slots_of_ring = 2;
constexpr Bytes tiles_of(Index br, Index bc, Index d) { return 2 * (br * d + 2 * slots_of_ring * bc * d); }
inline constexpr Bytes barriers = 1024;  // rounded up to what tiles are aligned to

/// A kernel, and the knobs that are its own choice.
constexpr KernelVariant variant(Dtype dtype, Index br, Index bc, Index d, Index turns = on, Index overlap = on) {
    Tiling t{br, bc};
    t.turns = turns, t.overlap = overlap, t.cluster = 1, t.persistent = dealt;
    return on_hopper({dtype, t, d, d, threads_of(br), tiles_of(br, bc, d), barriers});
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
    // What turns and overlap are worth.
    variant(Dtype::f16, 128, 128, 128, off, on),
    variant(Dtype::f16, 128, 128, 128, on, off),
    variant(Dtype::f16, 128, 128, 128, off, off),
};

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);
/// Defined in kernel_sm90a.cu, which is compiled for compute capability 9.0 alone.
void launch_sm90a(const KernelCall& call);

}  // namespace tilescope::flash_v3
