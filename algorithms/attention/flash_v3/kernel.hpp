// The instances that kernel_sm90a.cu is compiled for, and the threads and shared memory of a thread block.
#pragma once

#include <array>

#include "algorithms/attention/flash_v3/compiled.hpp"
#include "algorithms/cuda/kernel.hpp"

namespace tilescope::flash_v3 {

/// Warpgroups of 64 rows, and, where warps are specialised, one of producers.
constexpr Index threads_of(const Tiling& t) { return 128 * (t.warpgroups + (t.specialised == on ? 1 : 0)); }
/// Q, and the slots of K and V together. S, P and O are in registers.
constexpr Bytes tiles_of(const Compiled& c) {
    return size_of(c.dtype) * c.dim * (c.tile.br + c.tile.slots * c.tile.bc);
}
inline constexpr Bytes barriers = 1024;  // rounded up to what tiles are aligned to
/// Of 8 bits a slot of V^T for each one of V, in panels of 128 keys, with barriers of its own.
constexpr Bytes turned(const Compiled& c) {
    return size_of(c.dtype) > 1 ? 0 : c.tile.slots / 2 * c.dim * ceil_div(c.tile.bc, 128) * 128 + barriers;
}

inline constexpr std::array kernels = [] {
    std::array<KernelVariant, std::size(compiled_kernels)> all{};
    for (std::size_t k = 0; k < all.size(); ++k) {
        const Compiled& c = compiled_kernels[k];
        all[k] = on_hopper({c.dtype, c.tile, c.dim, c.dim, threads_of(c.tile), tiles_of(c), barriers + turned(c)});
    }
    return all;
}();

/// Defined in kernel.cu.
void launch_kernel(const KernelCall& call);
/// Defined in kernel_sm90a.cu, which is compiled for compute capability 9.0 alone.
void launch_sm90a(const KernelCall& call);

}  // namespace tilescope::flash_v3
