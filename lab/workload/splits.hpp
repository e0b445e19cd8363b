// How many parts libraries cut the keys into, so that there is a thread block for every SM.
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

/// The numbers that the rules depend on. Query heads that share K and V are packed where the library packs them.
struct SplitSetting {
    Index blocks;      ///< blocks of rows, over all heads and batch entries
    Index row_blocks;  ///< blocks of rows of one head
    Index key_blocks;  ///< blocks of keys of one head, before they are split
    Bytes kv_bytes;    ///< bytes of one head's K and V
    bool masked;       ///< whether there is a mask; a causal one counts only if it hides keys from the last query
    friend bool operator==(const SplitSetting&, const SplitSetting&) = default;
};
/// The setting as Dao-AILab/flash-attention at 0251105a has it: csrc/flash_attn/flash_api.cpp, set_params_splitkv;
/// hopper/heuristics.h and tile_size.h.
SplitSetting split_setting(SplitRule rule, const Problem& problem, const GpuSpec& gpu);

/// num_splits_heuristic of FlashAttention-2, with two blocks per SM: the fewest parts whose waves of thread blocks are
/// at least 85% as full as those of the best number of parts. 1 where the blocks fill 80% of a wave without splits.
Index fa2_splits(const SplitSetting& setting, Index sms);
/// num_splits_heuristic of FlashAttention-3: as fa2_splits(), but with one block per SM, and 1 for up to four blocks of
/// keys. Where the blocks fill 80% of a wave without splits, keys are split only if nothing is masked, a head has two
/// blocks of rows for every SM, and its K and V exceed an L2 of 50 MiB: into the fewest parts that each fit in this L2.
Index fa3_splits(const SplitSetting& setting, Index sms);

/// The rule's choice for the problem on that GPU.
Index splits_by(SplitRule rule, const Problem& problem, const GpuSpec& gpu);

}  // namespace tilescope::lab
