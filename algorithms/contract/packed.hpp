// Query heads that share K and V as one head: what a program is given in place of a user's problem.
#pragma once

#include "algorithms/contract/problem.hpp"

namespace tilescope {

/// The same attention with the g query heads that share K and V packed into one head: row t of that head is query t / g
/// of head t % g of the g (FlashAttention-3's pack_gqa: hopper/pack_gqa.h).
Problem packed(Problem problem);
/// The problem before packing, as users know it.
Problem unpacked(Problem problem);

}  // namespace tilescope
