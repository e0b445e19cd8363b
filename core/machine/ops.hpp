// The arithmetic between matrix products, one file for each operation in operations/. Prices are FLOPs per element of
// the tile that is read or written; exponentials are counted apart. Row vectors (m, l, ...) are tiles of one column.
#pragma once

#include "core/machine/block.hpp"

namespace tilescope {

/// out = in. Free: a register move.
void copy(Block& b, Tile& out, const Tile& in, Here here = Here::now());
/// out_r = in_rc for the given column c. Free, too; only this column is read.
void take_column(Block& b, Tile& out, const Tile& in, Index column, Here here = Here::now());

/// m_r = max over the columns of s. cols - 1 comparisons a row.
void row_max(Block& b, Tile& m, const Tile& s, Here here = Here::now());
/// m_r = max(m_r, max over the columns of s). cols comparisons a row.
void update_row_max(Block& b, Tile& m, const Tile& s, Here here = Here::now());
/// l_r = sum over the columns of s. cols - 1 additions a row.
void row_sum(Block& b, Tile& l, const Tile& s, Here here = Here::now());
/// l_r += sum over the columns of s. cols additions a row.
void update_row_sum(Block& b, Tile& l, const Tile& s, Here here = Here::now());

/// x = exp(x). 1 exponential an element; overflows to infinity as the hardware does.
void exp(Block& b, Tile& x, Here here = Here::now());
/// x_rc = exp(x_rc - m_r). 1 exponential and 1 subtraction an element. Where m is -inf (nothing seen): 0, not NaN.
void exp_minus(Block& b, Tile& x, const Tile& m, Here here = Here::now());
/// x_rc *= f_r. 1 multiplication an element.
void scale_rows(Block& b, Tile& x, const Tile& f, Here here = Here::now());
/// x_rc /= l_r; rows with l_r = 0 (they saw nothing, and hold zeros) stay as they are. 1 division an element.
void divide_rows(Block& b, Tile& x, const Tile& l, Here here = Here::now());

/// x += y. 1 addition an element.
void add(Block& b, Tile& x, const Tile& y, Here here = Here::now());
/// x = max(x, y). 1 comparison an element.
void update_max(Block& b, Tile& x, const Tile& y, Here here = Here::now());
/// m += log l. 1 logarithm and 1 addition an element, both counted as other FLOPs.
void add_log(Block& b, Tile& m, const Tile& l, Here here = Here::now());

}  // namespace tilescope
