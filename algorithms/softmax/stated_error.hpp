// How far the modelled times of the softmax kernels were from measured ones: of the three together.
#pragma once

#include "algorithms/contract/kernel_description.hpp"

namespace tilescope {

inline constexpr StatedError softmax_error = {0.11, 0.32};

}  // namespace tilescope
