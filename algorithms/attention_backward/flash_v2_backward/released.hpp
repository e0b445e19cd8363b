// FlashAttention-2's backward kernel as it is released: Dao-AILab/flash-attention at 0251105a, csrc/flash_attn/src.
#pragma once

#include <algorithm>

#include "algorithms/contract/kernel_description.hpp"

namespace tilescope::flash_v2_backward {

/// The tiles of run_mha_bwd_hdim* in flash_bwd_launch_template.h, without dropout.
inline Tiling released_tiles(const Problem& p, const GpuSpec& gpu) {
    const Index dim = std::max(p.dim, p.dim_v);
    const bool large = gpu.sram_per_block >= 144 * 1024;
    if (dim <= 64) return {dim <= 32 || large ? 128 : 64, 128};
    if (dim <= 96) return {64, 128};
    if (dim <= 128) return {64, large ? 128 : 64};
    return {64, dim > 192 && has_small_sms(gpu) ? 32 : 64};
}

/// flash_bwd_kernel.h: P and dS go through shared memory, in the storage type.
inline constexpr ReleasedKernel released = {
    .whose = "library.flash_attention_2",
    .kernel = "kernel.backward",
    .file = "flash_bwd_launch_template.h",
    .dim = 256,
    .compute_capability = 8.0,
    .tiles = released_tiles,
    .warps = [](const Problem&, Index) -> Index { return 8; },
    .exchanged = [](const Problem& p, const Tiling& t, Index) -> Bytes { return 2 * t.br * t.bc * size_of(p.dtype); }};

}  // namespace tilescope::flash_v2_backward
