// A diagonal that moves on one column every `rows` rows, as in a mask where several rows stand for one query.
#pragma once

#include "core/machine/units.hpp"

namespace tilescope {

/// `phase`: how many rows are missing from the first step.
struct Stairs {
    Index rows = 1, phase = 0;
    Index operator()(Index row) const { return (row + phase) / rows; }
    Index within(Index row) const { return (row + phase) % rows; }  ///< the row's number within its step
};

}  // namespace tilescope
