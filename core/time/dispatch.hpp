// The order in which a kernel's thread blocks start.
#pragma once

#include <span>
#include <vector>

#include "core/machine/grid.hpp"

namespace tilescope {

/// A thread block by its head, and by its number among the head's blocks in the order of the grid's axes.
struct BlockOfHead {
    std::uint32_t head, block;
};

/// Which thread blocks start first.
enum class Order : std::uint8_t {
    kernel,         ///< as in kernels: like rows, but the last row block first where row blocks are graded
    heads,          ///< one row block of all heads, then the next row block
    rows,           ///< all row blocks of a head, then the next head
    longest,        ///< like heads, but the row blocks that see most keys first
    snake,          ///< rows of one head forwards, of the next backwards
    longest_in_l2,  ///< like longest, for as many heads at a time as the L2 has room for
};
inline constexpr Order orders[] = {Order::kernel,  Order::heads, Order::rows,
                                   Order::longest, Order::snake, Order::longest_in_l2};
const char* name_of(Order order);

/// How thread blocks are put on the SMs, as far as a user may choose.
struct Placing {
    Order order = Order::kernel;
    Index blocks_per_sm = 0;  ///< at most; 0: as many as fit
    friend bool operator==(const Placing&, const Placing&) = default;
};

/// The thread blocks in the order in which they start. The axes are heads, row blocks (graded or not), and perhaps a
/// third one, which always varies slowest. `heads_in_l2`: how many heads Order::longest_in_l2 takes at a time.
std::vector<BlockOfHead> dispatch(std::span<const Axis> axes, Order order = Order::kernel, Index heads_in_l2 = 1);

/// The same without heads: the numbers of thread blocks among their heads', `each` of them so often one after the
/// other, and all of that so many `times`.
struct Dispatched {
    std::vector<std::uint32_t> blocks;
    Count each, times;
};
Dispatched dispatched(std::span<const Axis> axes, Order order, Index heads_in_l2);

/// Row blocks in the order in which they are dealt out, and for each the persistent thread block that gets it, by its
/// place: 0 to the number of places on all SMs - 1.
struct Dealt {
    std::vector<BlockOfHead> blocks;
    std::vector<std::uint32_t> places;
};
/// Deals out a long row block and a short one of a head together, long first, head by head: the last row block with the
/// first, the last but one with the second. The middle one of an odd number stays alone, so each round of pairs begins
/// at the next place, so that no place gets all of these. Where there are places for all, each takes one row block.
/// The axes are heads and row blocks. The places of a cluster take neighbouring row blocks as one.
Dealt deal_pairs(std::span<const Axis> axes, Index places, Index cluster = 1);

}  // namespace tilescope
