// How far one step goes: an operation, or to the end of a larger part of the run.
#pragma once

#include "show/run/run.hpp"

namespace tilescope::show {

enum class Stride : std::uint8_t {
    operation,
    line,   ///< a visit of a line of the pseudo-code
    tile,   ///< an iteration of the innermost loop, or a thread block's work around the loop
    row,    ///< all iterations of a loop over tiles: a row of tiles where Q is the outer loop, a column where K is
    launch  ///< of a kernel
};

/// The last tick of the part that is under way on this SM after `tick` or, if none is, of the next part; ticks() where
/// there is none.
Index stride_on(const Run& run, Stride stride, Index sm, Index tick);
/// The last tick before `tick` at which a part ends; 0 where there is none.
Index stride_back(const Run& run, Stride stride, Index sm, Index tick);

}  // namespace tilescope::show
