// Grids whose thread blocks are for heads of K and V, and for key tiles: what gradients of keys and values need.
#pragma once

#include "algorithms/contract/problem.hpp"

namespace tilescope {

/// Grid axes: a thread block per head of K and V of every batch entry; per key tile, which costs as many row tiles as
/// see it.
inline Axis kv_axis(const Problem& p) { return uniform(p.kv_slices(), "head"); }
inline Axis key_axis(const Problem& p, Tiles keys, Tiles rows) { return graded(keys, p.seeing(rows)); }

/// The query heads that share a head of K and V, each a tile of one.
inline Tiles heads_of(const Problem& p, Span kv_head) {
    const Index group = p.heads / p.kv_heads;
    return Tiles(p.batch_heads(), 1, "query head").within({kv_head.begin * group, group});
}

}  // namespace tilescope
