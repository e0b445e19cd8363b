// Arrays in Fortran order, put into C order.
#pragma once

#include <span>
#include <vector>

#include "core/machine/mode.hpp"

namespace tilescope::lab {

/// Reorders values whose first axis varies fastest, so that their last axis varies fastest. Throws Interrupted.
std::vector<float> to_c_order(const std::vector<float>& values, std::span<const Index> shape, const Control* control);

}  // namespace tilescope::lab
