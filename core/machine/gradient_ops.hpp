// More arithmetic, as in ops.hpp: what only gradients need.
#pragma once

#include "core/machine/block.hpp"

namespace tilescope {

/// x_rc -= d_r. 1 subtraction an element.
void subtract_rows(Block& b, Tile& x, const Tile& d, Here here = Here::now());
/// x *= y, element by element. 1 multiplication an element.
void multiply(Block& b, Tile& x, const Tile& y, Here here = Here::now());

}  // namespace tilescope
