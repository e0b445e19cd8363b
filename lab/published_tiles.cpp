#include "lab/published_tiles.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
namespace {

/// Compute capabilities 8.6 and 8.9: SMs with 100 KiB of shared memory, which the library treats apart.
bool is_small_ampere(const GpuSpec& gpu) { return gpu.compute_capability == "8.6" || gpu.compute_capability == "8.9"; }

/// Dao-AILab/flash-attention at 0251105a, csrc/flash_attn/src/flash_fwd_launch_template.h, run_mha_fwd_hdim*.
Tiling flash_attention_2(Index dim, const Problem& p, const GpuSpec& gpu) {
    const bool causal = p.mask.is_causal(), drops = p.uses(Feature::dropout);
    if (dim <= 32) return {128, 128};
    if (dim <= 64) return drops ? Tiling{128, 64} : Tiling{128, 128};
    if (dim <= 96) return is_small_ampere(gpu) && causal ? Tiling{64, 64} : Tiling{128, 64};
    if (dim <= 128) {
        if (drops) return {128, 32};
        if (!is_small_ampere(gpu)) return {128, 64};
        return causal ? Tiling{64, 64} : Tiling{128, 32};
    }
    if (dim <= 192) return drops ? Tiling{64, 64} : Tiling{128, 64};
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

/// A family of released kernels: the file that has them, and what they are made for.
struct Released {
    const char* whose;
    const char* kernel;
    const char* file;
    Index dim;                  ///< the greatest head dimension
    double compute_capability;  ///< the least
    const char* on;             ///< such a GPU: "an A100"
};
constexpr Released flash_attention_2_kernel = {
    "FlashAttention-2's", "released kernel", "flash_fwd_launch_template.h", 256, 8.0, "an A100"};
constexpr Released flash_attention_2_split = {
    "FlashAttention-2's", "released split-KV kernel", "flash_fwd_launch_template.h", 256, 8.0, "an A100"};
constexpr Released flash_attention_2_gradients = {
    "FlashAttention-2's", "released backward kernel", "flash_bwd_launch_template.h", 256, 8.0, "an A100"};
constexpr Released flash_attention_1_kernel = {
    "FlashAttention-1's", "released kernel", "fmha_fwd_hdim*.cu", 128, 7.5, "an A100"};
constexpr Released flash_attention_1_gradients = {
    "FlashAttention-1's", "released backward kernel", "fmha_bwd_hdim*.cu", 128, 7.5, "an A100"};

/// What a rule is carried on from, where there is no such kernel: " for d = 256 and an A100", " without a bias". Empty:
/// there is one.
std::string carried_from(const Released& r, const Problem& p, const GpuSpec& gpu) {
    std::vector<std::string> made_for;
    if (std::max(p.dim, p.dim_v) > r.dim) made_for.push_back("d = " + std::to_string(r.dim));
    if (gpu.compute_capability != "none" && text::to_number(gpu.compute_capability).value_or(0) < r.compute_capability)
        made_for.emplace_back(r.on);
    return (made_for.empty() ? "" : " for " + text::listed(made_for)) +
           (p.uses(Feature::bias) ? " without a bias" : "");
}

/// "FlashAttention-2's rule for d = 256, carried on"; empty where there is such a kernel.
std::string carried_on(const Released& r, const Problem& p, const GpuSpec& gpu) {
    const std::string from = carried_from(r, p, gpu);
    return from.empty() ? "" : r.whose + (" rule" + from) + ", carried on";
}

PublishedTiles tiles_of(const Released& r, Tiling tiling, const Problem& p, const GpuSpec& gpu) {
    const std::string rule = carried_on(r, p, gpu);
    if (!rule.empty()) return {tiling, "by " + rule, r.whose, rule};
    return {tiling, std::string("as in ") + r.whose + ' ' + r.kernel + " (" + r.file + ')', r.whose};
}

std::string kernel_or_rule(const Released& r, const Problem& p, const GpuSpec& gpu) {
    const std::string from = carried_from(r, p, gpu);
    return from.empty() ? std::string(r.whose) + ' ' + r.kernel : "A kernel by " + (r.whose + (" rule" + from));
}

/// FlashAttention-2's, whatever the algorithm.
PublishedTiles common_tiles(const Computation& computation, const Problem& p, const GpuSpec& gpu) {
    if (gpu.compute_capability == "none") return {{4, 4}, "as in what the blackboard has room for", "the blackboard's"};
    if (!computation.features.has(Feature::head_dims))
        return {{32, 64}, "as in TileScope's own softmax kernels", "TileScope's"};
    if (p.dtype == Dtype::f32) return {{64, 64}, "as in TileScope's own f32 kernels", "TileScope's"};
    const Index dim = std::max(p.dim, p.dim_v);
    if (&computation == &computation::attention_backward)
        return tiles_of(flash_attention_2_gradients, flash_attention_2_backward(dim, gpu), p, gpu);
    return tiles_of(flash_attention_2_kernel, flash_attention_2(dim, p, gpu), p, gpu);
}

}  // namespace

PublishedTiles published_tiles(const Algorithm& algorithm, const Problem& p, const GpuSpec& gpu, bool shared) {
    const std::string_view name = algorithm.name;
    const Index dim = std::max(p.dim, p.dim_v);
    const bool common = shared && algorithm.tiled.warp == 0;
    if (common || gpu.compute_capability == "none") return common_tiles(*algorithm.computes, p, gpu);
    if (p.dtype != Dtype::f32 && name == "flash_v1")
        return tiles_of(flash_attention_1_kernel, flash_attention_1(dim, p.seq_k), p, gpu);
    if (p.dtype != Dtype::f32 && name == "split_kv") return tiles_of(flash_attention_2_split, split_keys(dim), p, gpu);
    if (p.dtype != Dtype::f32 && name == "memory_efficient")
        return {xformers(dim, gpu), "as in xformers' kernel, which is PyTorch's (generate_kernels.py)", "xformers'"};
    if (p.dtype != Dtype::f32 && name == "memory_efficient_backward")
        return {xformers_backward(dim, gpu),
                "as in xformers' backward kernel, which is PyTorch's (generate_kernels.py)", "xformers'"};
    return common_tiles(*algorithm.computes, p, gpu);
}

std::string published_kernel(const Algorithm& algorithm, const Problem& p, const GpuSpec& gpu) {
    const bool first = std::string_view(algorithm.name).starts_with("flash_v1");
    if (algorithm.computes == &computation::attention_backward)
        return kernel_or_rule(first ? flash_attention_1_gradients : flash_attention_2_gradients, p, gpu);
    return kernel_or_rule(first ? flash_attention_1_kernel : flash_attention_2_kernel, p, gpu);
}

}  // namespace tilescope::lab
