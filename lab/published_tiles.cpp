#include "lab/published_tiles.hpp"

#include <algorithm>
#include <string_view>

namespace tilescope::lab {
namespace {

/// Compute capabilities 8.6 and 8.9: SMs with 100 KiB of shared memory, which the library treats apart.
bool is_small_ampere(const GpuSpec& gpu) { return gpu.compute_capability == "8.6" || gpu.compute_capability == "8.9"; }

/// Dao-AILab/flash-attention at 0251105a, csrc/flash_attn/src/flash_fwd_launch_template.h, run_mha_fwd_hdim*: without
/// dropout.
Tiling flash_attention_2(Index dim, bool causal, const GpuSpec& gpu) {
    if (dim <= 64) return {128, 128};
    if (dim <= 96) return is_small_ampere(gpu) && causal ? Tiling{64, 64} : Tiling{128, 64};
    if (dim <= 128) {
        if (!is_small_ampere(gpu)) return {128, 64};
        return causal ? Tiling{64, 64} : Tiling{128, 32};
    }
    if (dim <= 192) return {128, 64};
    // Where two thread blocks of 64 x 64 share an SM, those are faster (H100); where not, one of 128 x 64 (A100).
    const bool one_large = gpu.sram_per_block >= 131072 && gpu.sram_per_sm < 196608;
    return one_large ? Tiling{128, 64} : Tiling{64, 64};
}

/// The same repository, flash_bwd_launch_template.h, run_mha_bwd_hdim*: without dropout.
Tiling flash_attention_2_backward(Index dim, const GpuSpec& gpu) {
    const bool large = gpu.sram_per_block >= 144 * 1024;
    if (dim <= 64) return {dim <= 32 || large ? 128 : 64, 128};
    if (dim <= 96) return {64, 128};
    if (dim <= 128) return {64, large ? 128 : 64};
    return {64, dim > 192 && is_small_ampere(gpu) ? 32 : 64};
}

/// The same repository at 8a2ece89, csrc/flash_attn/src/fmha_fwd_hdim*.cu: 16 rows, FMHA_kernel_traits' first number of
/// keys.
Tiling flash_attention_1(Index dim, Index keys) { return {16, dim > 64 || keys <= 128 ? 128 : 256}; }

/// facebookresearch/xformers, csrc/attention/cuda/fmha/generate_kernels.py: queries x keys, by the greatest head
/// dimension.
Tiling xformers(Index dim, const GpuSpec& gpu) {
    if (dim <= 64) return {64, 64};
    const bool old = gpu.compute_capability == "7.0" || gpu.compute_capability == "7.5";
    return {dim <= 128 && !old ? 64 : 32, 128};
}

/// The same file's kernels of the backward pass, those that fit the GPU's shared memory.
Tiling xformers_backward(Index dim, const GpuSpec& gpu) {
    if (dim <= 64 || gpu.compute_capability == "7.5") return {64, 64};
    if (is_small_ampere(gpu)) return {dim <= 96 ? 128 : 64, 64};
    return {128, dim <= 128 && gpu.compute_capability != "7.0" ? 128 : 64};
}

/// Dao-AILab/flash-attention at 0251105a, flash_fwd_launch_template.h, run_mha_fwd_splitkv_dispatch.
Tiling split_keys(Index dim) { return {64, dim <= 64 ? 256 : dim <= 128 ? 128 : 64}; }

constexpr const char* from_flash_attention_2_backward =
    "FlashAttention-2's released backward kernel (flash_bwd_launch_template.h)";
constexpr const char* from_flash_attention_2 = "FlashAttention-2's released kernel (flash_fwd_launch_template.h)";

}  // namespace

PublishedTiles common_tiles(const Computation& computation, const Problem& p, const GpuSpec& gpu) {
    if (gpu.compute_capability == "none") return {{4, 4}, "what the blackboard has room for"};
    if (!computation.features.has(Feature::head_dims)) return {{32, 64}, "TileScope's own softmax kernels"};
    if (p.dtype == Dtype::f32) return {{64, 64}, "TileScope's own f32 kernels"};
    const Index dim = std::max(p.dim, p.dim_v);
    if (&computation == &computation::attention_backward)
        return {flash_attention_2_backward(dim, gpu), from_flash_attention_2_backward};
    return {flash_attention_2(dim, p.mask.is_causal(), gpu), from_flash_attention_2};
}

PublishedTiles published_tiles(const Algorithm& algorithm, const Problem& p, const GpuSpec& gpu) {
    const std::string_view name = algorithm.name;
    const Index dim = std::max(p.dim, p.dim_v);
    if (gpu.compute_capability == "none") return common_tiles(*algorithm.computes, p, gpu);
    if (p.dtype != Dtype::f32 && name == "flash_v1")
        return {flash_attention_1(dim, p.seq_k), "FlashAttention-1's released kernel (fmha_fwd_hdim*.cu)"};
    if (p.dtype != Dtype::f32 && name == "split_kv")
        return {split_keys(dim), "FlashAttention-2's released split-KV kernel (flash_fwd_launch_template.h)"};
    if (p.dtype != Dtype::f32 && name == "memory_efficient")
        return {xformers(dim, gpu), "xformers' kernel, which is PyTorch's (generate_kernels.py)"};
    if (p.dtype != Dtype::f32 && name == "memory_efficient_backward")
        return {xformers_backward(dim, gpu), "xformers' backward kernel, which is PyTorch's (generate_kernels.py)"};
    return common_tiles(*algorithm.computes, p, gpu);
}

}  // namespace tilescope::lab
