// Grids with a thread block per head of K and V and per key tile, as gradients of K and V need them.
#pragma once

#include "algorithms/contract/problem.hpp"

namespace tilescope {

/// Grid axes: one thread block per head of K and V of every batch entry; one per key tile, whose cost is the number of
/// row tiles that see it.
inline Axis kv_axis(const Problem& p) { return uniform(p.kv_slices(), "head"); }
inline Axis key_axis(const Problem& p, Tiles keys, Tiles rows) { return graded(keys, p.seeing(rows)); }

/// The query heads that share a head of K and V, each as a tile of size 1.
inline Tiles heads_of(const Problem& p, Span kv_head) {
    const Index group = p.heads / p.kv_heads;
    return Tiles(p.batch_heads(), 1, "query head").within({kv_head.begin * group, group});
}

}  // namespace tilescope
