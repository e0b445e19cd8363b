// Query heads that share K and V, packed: their rows side by side in one tile, so that K and V are read once for all.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/packed.hpp"

namespace tilescope::lab {

/// Whether heads are packed: by packs_by_rule(), always, or never.
enum class Packing : std::uint8_t { automatic, on, off };
inline constexpr Packing packings[] = {Packing::automatic, Packing::on, Packing::off};
const char* name_of(Packing packing);

/// FlashAttention-2's rule: one query, in groups, without a window, ALiBi or dropout, and a head dimension that 8
/// divides (Dao-AILab/flash-attention at 0251105a, csrc/flash_attn/flash_api.cpp, seqlenq_ngroups_swapped).
bool packs_by_rule(const Problem& problem);
/// The problem as the algorithm runs it: packed or not. A problem stays as it is if it is packed already, has a bias
/// per head or query, or if the algorithm does not pack.
Problem packed_for(const Algorithm& algorithm, const Problem& problem, Packing packing);

/// packed_inputs: reorders Q for the packed problem. unpacked_output: reorders an output as in the problem that users
/// state. A tensor that is in the right order already, as K and V always are, is shared and not copied.
Inputs packed_inputs(const Inputs& inputs, const Problem& packed);
std::shared_ptr<const Storage> unpacked_output(std::shared_ptr<const Storage> output, const Problem& packed);

}  // namespace tilescope::lab
