// Query heads that share K and V, packed: their rows side by side in one tile, so that K and V are read once for all.
#pragma once

#include "algorithms/contract/algorithm.hpp"
#include "algorithms/contract/packed.hpp"

namespace tilescope::lab {

/// Whether they are, where the user leaves it open, asks for it, or does not want it.
enum class Packing : std::uint8_t { automatic, on, off };
inline constexpr Packing packings[] = {Packing::automatic, Packing::on, Packing::off};
const char* name_of(Packing packing);

/// FlashAttention-2's rule: one query, in groups, without a window, ALiBi or dropout, and a head dimension that 8
/// divides (Dao-AILab/flash-attention at 0251105a, csrc/flash_attn/flash_api.cpp, seqlenq_ngroups_swapped).
bool packs_by_rule(const Problem& problem);
/// As the algorithm runs it: packed or not; never with a bias per head or query. Of packed problems, and of algorithms
/// that do not pack, as it is.
Problem packed_for(const Algorithm& algorithm, const Problem& problem, Packing packing);

/// Tensors of a problem as users have them, in the order of a packed one; and back. What is in that order already, as
/// is every tensor of K and V, is shared and not copied.
Inputs packed_inputs(const Inputs& inputs, const Problem& packed);
std::shared_ptr<const Storage> unpacked_output(std::shared_ptr<const Storage> output, const Problem& packed);

}  // namespace tilescope::lab
