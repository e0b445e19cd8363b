// How far modelled times were from measured ones, for the three softmax kernels together.
#pragma once

#include "algorithms/contract/kernel_description.hpp"

namespace tilescope {

inline constexpr StatedError softmax_error = {0.11, 0.32};

}  // namespace tilescope
