// Query heads that share K and V as one head: what a program is given in place of a user's problem.
#pragma once

#include "algorithms/contract/problem.hpp"

namespace tilescope {

/// The same attention with the query heads that share K and V packed: a head of K and V has one of queries, row t of
/// which is query t / g of the t % g-th of the g heads that were (FlashAttention-3's pack_gqa: hopper/pack_gqa.h).
Problem packed(Problem problem);
/// What it was before, as users know it.
Problem unpacked(Problem problem);

}  // namespace tilescope
