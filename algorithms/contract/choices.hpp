// What people call the choices that a problem makes.
#pragma once

#include "algorithms/contract/problem.hpp"

namespace tilescope {

inline constexpr Scaling scalings[] = {Scaling::head, Scaling::tensor, Scaling::none};
const char* name_of(Scaling scaling);
const char* name_of(Softmax softmax);

}  // namespace tilescope
