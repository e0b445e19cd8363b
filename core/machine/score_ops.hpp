// More arithmetic, as in ops.hpp: what only helpers of tile programs need, to change scores before and after their
// exponential.
#pragma once

#include <functional>

#include "core/machine/block.hpp"
#include "core/machine/kept.hpp"
#include "core/machine/stairs.hpp"

namespace tilescope {

/// x_rc = -inf where c > stairs(r) + diagonal. Free: a predicate on the operation that produced x.
void mask_above_diagonal(Block& b, Tile& x, Index diagonal, Stairs stairs = {}, Here here = Here::now());
/// x_rc = -inf where c < stairs(r) + diagonal. Free, too.
void mask_below_diagonal(Block& b, Tile& x, Index diagonal, Stairs stairs = {}, Here here = Here::now());
/// x_rc = -inf where hidden(r, c), rows and columns of the tile. Free, too.
void mask_where(Block& b, Tile& x, const std::function<bool(Index row, Index col)>& hidden, Here here = Here::now());
/// x_rc = 0 in rows for which level(r) is true, so that all their columns weigh the same. Free, too.
void level_rows(Block& b, Tile& x, const std::function<bool(Index row)>& level, Here here = Here::now());

/// x = factor x, as an operation of its own. 1 multiplication an element.
void scale(Block& b, Tile& x, float factor, Here here = Here::now());
/// x_rc *= f_stairs(c); f is one row. 1 multiplication an element.
void scale_columns(Block& b, Tile& x, const Tile& f, Stairs stairs = {}, Here here = Here::now());
/// mark_seen: x_rc = 0 where x_rc is -inf, else 1 (also for NaN). keep_rows: x_rc = 0 in rows where f_r = 0. Each takes
/// 1 comparison an element.
void mark_seen(Block& b, Tile& x, Here here = Here::now());
void keep_rows(Block& b, Tile& x, const Tile& f, Here here = Here::now());

/// x = a where x - a <= slack: a value that may be stale. 1 subtraction and 1 comparison an element.
void hold(Block& b, Tile& x, const Tile& a, float slack, Here here = Here::now());

/// out_cr = in_rc. No FLOPs; bytes that are read and written.
void transpose(Block& b, Tile& out, const Tile& in, Here here = Here::now());

/// x_rc += y_rc, or y_c where y is a single row. 1 addition an element.
void add_bias(Block& b, Tile& x, const Tile& y, Here here = Here::now());
/// x = cap tanh(x / cap). tanh is 1 exponential an element. The factors are free, as the factor on the logits is:
/// 1 / cap goes into the product that gave x, and cap into the exponential that follows.
void soft_cap(Block& b, Tile& x, float cap, Here here = Here::now());
/// x_rc -= slope |stairs(r) + diagonal - c|; row k of a step has slopes[k]. 1 multiplication and 1 addition an element;
/// the distance is integer arithmetic, which is free, as in a mask.
void alibi(Block& b, Tile& x, std::span<const float> slopes, Index diagonal, Stairs stairs = {},
           Here here = Here::now());

/// x_rc *= factor where x_rc is kept, else 0. 1 multiplication an element; drawing takes integer operations, no FLOPs.
void drop(Block& b, Tile& x, const Dropping& dropping, Here here = Here::now());
/// draw_kept: m_rc = 1 where (r, c) is kept, else 0. Free. drop_by: drop() by this m; 1 multiplication an element.
void draw_kept(Block& b, Tile& m, const Dropping& dropping, Here here = Here::now());
void drop_by(Block& b, Tile& x, const Tile& m, float factor, Here here = Here::now());

}  // namespace tilescope
