// Where in a Python program an operation is asked for.
#pragma once

#include "core/machine/tile.hpp"
#include "python/bindings/bindings.hpp"

namespace tilescope::python {

/// The line that is being executed, and its file; the same pointer for the same file.
Here here_in_python();
/// The innermost line on the call stack that lies between `first` and `last` of `file`; 0: there is none.
std::uint32_t line_within(const char* file, Index first, Index last);

}  // namespace tilescope::python
