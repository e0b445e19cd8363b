// FlashAttention-2's kernel as it is released: Dao-AILab/flash-attention at 0251105a, csrc/flash_attn/src.
#pragma once

#include <algorithm>

#include "algorithms/contract/kernel_description.hpp"

namespace tilescope::flash_v2 {

/// The tiles of run_mha_fwd_hdim* in flash_fwd_launch_template.h.
inline Tiling released_tiles(const Problem& p, const GpuSpec& gpu) {
    const Index dim = std::max(p.dim, p.dim_v);
    const bool causal = p.mask.is_causal(), drops = p.uses(Feature::dropout);
    if (dim <= 32) return {128, 128};
    if (dim <= 64) return drops ? Tiling{128, 64} : Tiling{128, 128};
    if (dim <= 96) return has_small_sms(gpu) && causal ? Tiling{64, 64} : Tiling{128, 64};
    if (dim <= 128) {
        if (drops) return {128, 32};
        if (!has_small_sms(gpu)) return {128, 64};
        return causal ? Tiling{64, 64} : Tiling{128, 32};
    }
    if (dim <= 192) return drops ? Tiling{64, 64} : Tiling{128, 64};
    // 128 x 64 where it fits and an SM has no room for two thread blocks of 64 x 64 (A100); else 64 x 64 (H100).
    const bool one_large = gpu.sram_per_block >= 131072 && gpu.sram_per_sm < 196608;
    return one_large ? Tiling{128, 64} : Tiling{64, 64};
}

inline constexpr ReleasedKernel released = {.whose = "library.flash_attention_2",
                                            .file = "flash_fwd_launch_template.h",
                                            .dim = 256,
                                            .compute_capability = 8.0,
                                            .tiles = released_tiles,
                                            .warps = [](const Problem& p, Index rows) -> Index {
                                                return std::max(p.dim, p.dim_v) > 128 && rows >= 128 ? 8 : 4;
                                            }};

}  // namespace tilescope::flash_v2
