// How far one step goes: an operation, or on to the end of what it is part of.
#pragma once

#include "show/run.hpp"

namespace tilescope::show {

enum class Stride : std::uint8_t {
    operation,
    line,   ///< a visit of a line of the pseudo-code
    tile,   ///< a turn of the innermost loop, or what a thread block does around it
    row,    ///< all turns of a loop around tiles: where Q is outside a row of tiles, where K is a column of them
    launch  ///< of a kernel
};

/// The tick with which the part ends that is under way on this SM after `tick`, or with which the next one ends;
/// ticks() where there is none.
Index stride_on(const Run& run, Stride stride, Index sm, Index tick);
/// The last tick before `tick` with which a part ends; 0 where there is none.
Index stride_back(const Run& run, Stride stride, Index sm, Index tick);

}  // namespace tilescope::show
