#include "lab/workload/splits.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/machine/gpu_spec.hpp"
#include "core/text/numbers.hpp"
#include "lab/workload/packing.hpp"

namespace tilescope::lab {
namespace {

constexpr Index most_chosen = 128;  // the most parts that the libraries' rules choose

struct Block {
    Index rows, keys;
};

/// csrc/flash_attn/flash_api.cpp, set_params_splitkv.
Block fa2_block(const Problem& p) { return {64, p.dim <= 64 ? 256 : p.dim <= 128 ? 128 : 64}; }

/// hopper/tile_size.h, tile_size_fwd_sm90 and tile_size_fwd_sm8x, for 16-bit types.
Block fa3_block(const Problem& p, const GpuSpec& gpu, bool masked) {
    const bool small = gpu.compute_capability == "8.6" || gpu.compute_capability == "8.9";
    const bool hopper = text::to_number(gpu.compute_capability).value_or(9) >= 9;
    if (hopper) {
        if (p.dim <= 64) return masked ? Block{192, 128} : Block{192, 192};
        if (p.dim <= 96) return {192, p.mask.hides() && !p.mask.is_causal() ? 128 : 144};
        if (p.dim <= 128) return {128, masked ? 128 : 176};
        if (p.dim <= 192) return {128, p.dim_v <= 128 ? 128 : 112};
        return {128, 80};
    }
    if (p.dim <= 64) return {128, 112};
    if (p.dim <= 96) return {128, 64};
    if (p.dim <= 128) return {128, small ? 128 : 64};
    return {128, p.dim > 192 && small ? 64 : 96};
}

/// Of the numbers of parts that `eligible` allows, the least whose waves are at least 85% as full as the fullest.
/// Computed in f32, as in the libraries.
template <class F>
Index fullest_waves(Index blocks, Index slots, Index most, F&& eligible) {
    std::vector<float> shares;
    float best = 0;
    for (Index s = 1; s <= most; ++s) {
        const float waves = static_cast<float>(blocks * s) / static_cast<float>(slots);
        shares.push_back(eligible(s) ? waves / std::ceil(waves) : 0);
        best = std::max(best, shares.back());
    }
    const auto found = std::find_if(shares.begin(), shares.end(), [&](float share) {
        return share > 0 && static_cast<double>(share) >= 0.85 * static_cast<double>(best);
    });
    return found == shares.end() ? 1 : found - shares.begin() + 1;
}

bool nearly_fills(Index blocks, Index slots) { return static_cast<float>(blocks) >= 0.8f * static_cast<float>(slots); }

}  // namespace

const char* name_of(SplitRule rule) { return rule == SplitRule::fa2 ? "fa2" : "fa3"; }

SplitSetting split_setting(SplitRule rule, const Problem& p, const GpuSpec& gpu) {
    // A query at the last key sees all keys, causal or not.
    const bool masked = p.mask.hides() && !(p.mask.is_causal() && p.diagonal() >= p.seq_k - 1);
    const bool fa2 = rule == SplitRule::fa2;
    const Block block = fa2 ? fa2_block(p) : fa3_block(p, gpu, masked);
    const Problem run = !fa2 || packs_by_rule(p) ? packed(p) : p;
    const Index row_blocks = ceil_div(run.seq_q, block.rows);
    return {run.batch_heads() * row_blocks, row_blocks, ceil_div(p.seq_k, block.keys),
            p.seq_k * (p.dim + p.dim_v) * size_of(p.key_type()), masked};
}

Index fa2_splits(const SplitSetting& s, Index sms) {
    const Index slots = 2 * sms, n = s.key_blocks;
    if (nearly_fills(s.blocks, slots)) return 1;
    // 64 blocks in 11 or in 12 parts make 6 blocks a part: only 11, the smaller number, is eligible.
    return fullest_waves(s.blocks, slots, std::min({most_chosen, slots, n}),
                         [&](Index parts) { return parts == 1 || ceil_div(n, parts) != ceil_div(n, parts - 1); });
}

Index fa3_splits(const SplitSetting& s, Index sms) {
    if (nearly_fills(s.blocks, sms)) {
        constexpr Bytes l2 = Bytes{50} << 20;
        const bool passes_again = s.kv_bytes > l2 && s.row_blocks >= 2 * sms && !s.masked;
        return passes_again ? std::min(ceil_div(s.kv_bytes, l2), most_chosen) : 1;
    }
    if (s.key_blocks <= 4) return 1;
    return fullest_waves(s.blocks, sms, std::min({most_chosen, sms, s.key_blocks}), [](Index) { return true; });
}

Index splits_by(SplitRule rule, const Problem& problem, const GpuSpec& gpu) {
    const SplitSetting setting = split_setting(rule, problem, gpu);
    return rule == SplitRule::fa2 ? fa2_splits(setting, gpu.sms) : fa3_splits(setting, gpu.sms);
}

}  // namespace tilescope::lab
