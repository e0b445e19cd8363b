// The instances that kernel_sm90a.cu is compiled for, and the threads and shared memory of a thread block.
#pragma once

#include <array>

#include "algorithms/attention/flash_v3/compiled.hpp"
#include "algorithms/cuda/kernel.hpp"

namespace tilescope::flash_v3 {

/// Warpgroups of 64 rows, and, where warps are specialised, one of producers.
constexpr Index threads_of(const Tiling& t) { return 128 * (t.warpgroups + (t.specialised == on ? 1 : 0)); }
/// Q, and the slots of K and V together; of 8 bits also a slot of V^T for each one of V. S, P and O are in registers.
constexpr Bytes tiles_of(const Compiled& c) {
    const Index of_v = size_of(c.dtype) > 1 ? 0 : c.tile.slots / 2;
    return size_of(c.dtype) * c.dim * (c.tile.br + (c.tile.slots + of_v) * c.tile.bc);
}
inline constexpr Bytes barriers = 1024;  // rounded up to what tiles are aligned to
/// V^T has panels of 128 keys, and barriers of its own.
constexpr Bytes beside_turned(const Compiled& c) {
    constexpr Index panel = 128;
    return size_of(c.dtype) > 1
               ? 0
               : c.tile.slots / 2 * c.dim * (ceil_div(c.tile.bc, panel) * panel - c.tile.bc) + barriers;
}

inline constexpr std::array kernels = [] {
    std::array<KernelVariant, std::size(compiled_kernels)> all{};
    for (std::size_t k = 0; k < all.size(); ++k) {
        const Compiled& c = compiled_kernels[k];
        all[k] =
            on_hopper({c.dtype, c.tile, c.dim, c.dim, threads_of(c.tile), tiles_of(c), barriers + beside_turned(c)});
        all[k].causal = c.causal;
    }
    return all;
}();

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);
/// Defined in kernel_sm90a.cu, which is compiled for compute capability 9.0 alone.
void launch_sm90a(const KernelCall& call);

}  // namespace tilescope::flash_v3
