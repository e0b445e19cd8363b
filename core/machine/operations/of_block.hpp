// The operations that Block carries out itself, and the marks of a recording.
#pragma once

#include "core/machine/operation.hpp"

namespace tilescope::operation {

extern const Operation load, store, reduce_add, alloc, release, matmul;
extern const Operation launch, block_begin, block_end;

}  // namespace tilescope::operation
