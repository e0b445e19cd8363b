// Into how many parts libraries cut the keys, so that there is a thread block for every SM.
#pragma once

#include <span>

#include "algorithms/contract/problem.hpp"
#include "core/machine/gpu_spec.hpp"

namespace tilescope::lab {

/// The library whose rule chooses the number of parts where the user leaves it open.
enum class SplitRule : std::uint8_t { fa2, fa3 };
inline constexpr SplitRule split_rules[] = {SplitRule::fa2, SplitRule::fa3};
const char* name_of(SplitRule rule);

/// More than any library's 128 or 256; a row's partial results still fit in registers.
inline constexpr Index most_splits = 1024;

/// What the rules look at. Query heads that share K and V are packed into one block of rows where a library does that.
struct SplitSetting {
    Index blocks;      ///< of rows, over all heads and batch entries
    Index row_blocks;  ///< of one head
    Index key_blocks;  ///< of one row block, before they are split
    Bytes kv_bytes;    ///< of one head's K and V
    bool masked;       ///< causal, or a window
    friend bool operator==(const SplitSetting&, const SplitSetting&) = default;
};
/// Dao-AILab/flash-attention at 0251105a, csrc/flash_attn/flash_api.cpp, set_params_splitkv; hopper/heuristics.h and
/// tile_size.h.
SplitSetting split_setting(SplitRule rule, const Problem& problem, const GpuSpec& gpu);

/// num_splits_heuristic of FlashAttention-2: the fewest parts whose waves of thread blocks are at least 85% as full as
/// those of the best number, with two blocks per SM.
Index fa2_splits(const SplitSetting& setting, Index sms);
/// FlashAttention-3's: one block per SM. Where K and V of a head exceed an L2 of 50 MiB, parts that do not exceed it.
Index fa3_splits(const SplitSetting& setting, Index sms);

/// The rule's choice for the problem on that GPU.
Index splits_by(SplitRule rule, const Problem& problem, const GpuSpec& gpu);

}  // namespace tilescope::lab
