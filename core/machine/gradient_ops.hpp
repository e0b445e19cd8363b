// More arithmetic, as in ops.hpp: what only gradients need.
#pragma once

#include "core/machine/block.hpp"

namespace tilescope {

/// x_rc -= d_r. 1 subtraction an element.
void subtract_rows(Block& b, Tile& x, const Tile& d, Here here = Here::now());
/// x *= y, element by element. 1 multiplication an element.
void multiply(Block& b, Tile& x, const Tile& y, Here here = Here::now());
/// x = 1 - (y / cap)^2: the derivative of y = cap tanh(s / cap) by s. 1 multiplication and 1 subtraction an element.
/// The division is free, because a kernel has y / cap, the hyperbolic tangent itself.
void cap_slope(Block& b, Tile& x, const Tile& y, float cap, Here here = Here::now());
/// x_c += sum over the rows of y, where x is a single row. 1 addition an element of y.
void update_column_sum(Block& b, Tile& x, const Tile& y, Here here = Here::now());

}  // namespace tilescope
