// Arrays in Fortran order, put into C order.
#pragma once

#include <span>
#include <vector>

#include "core/machine/mode.hpp"

namespace tilescope::lab {

/// The values, whose first axis varies fastest, in the order in which the last axis does. Throws Interrupted.
std::vector<float> to_c_order(const std::vector<float>& values, std::span<const Index> shape, const Control* control);

}  // namespace tilescope::lab
