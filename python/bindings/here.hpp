// Where in a Python program an operation is asked for.
#pragma once

#include "core/machine/tile.hpp"
#include "python/bindings/bindings.hpp"

namespace tilescope::python {

/// The Python line that is being executed, and its file. A file always has the same pointer.
Here here_in_python();
/// The innermost line on the call stack that lies in lines `first` to `last` of `file`; 0 where there is none.
std::uint32_t line_within(const char* file, Index first, Index last);

}  // namespace tilescope::python
