// Where in a Python program an operation is asked for.
#pragma once

#include "core/machine/tile.hpp"
#include "python/bindings/bindings.hpp"

namespace tilescope::python {

/// The line that is being executed, and its file; the same pointer for the same file.
Here here_in_python();
/// The line between `first` and `last` of `file` that is being executed, or that called what is; 0: there is none.
std::uint32_t line_within(const char* file, Index first, Index last);

}  // namespace tilescope::python
