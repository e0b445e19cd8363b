// A diagonal that goes a column on every so many rows: that of a mask where several rows stand for one query.
#pragma once

#include "core/machine/units.hpp"

namespace tilescope {

/// `phase`: how many rows the first step lacks.
struct Stairs {
    Index rows = 1, phase = 0;
    Index operator()(Index row) const { return (row + phase) / rows; }
    /// Which row of its step.
    Index within(Index row) const { return (row + phase) % rows; }
};

}  // namespace tilescope
