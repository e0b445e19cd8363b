// Which sizes a problem may have.
#pragma once

#include "algorithms/contract/problem.hpp"

namespace tilescope {

/// Throws BadValue unless 1 <= value <= 2^40.
void check_size(const char* field, Index value);

/// Throws BadValue where a problem is not allowed. Bounds every size such that no count overflows.
void validate(const Problem& problem);

}  // namespace tilescope
