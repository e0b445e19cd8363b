// Lanes over time in letters: a row for what the tensor cores do for a lane, one for what its own warps do, one for
// what comes over the bus.
#pragma once

#include <span>
#include <string>

#include "core/time/lanes.hpp"

namespace tilescope::show {

/// From one cycle to another in so many columns, each of which shows what goes on at its middle: the letter of a
/// product, a load or work, "-" while the lane waits. Rows in which nothing goes on are left out; what the letters mean
/// follows below. The phases of `play` are needed.
std::string lane_chart(std::span<const LaneProgram> lanes, const LanePlay& play, double from, double to, int columns);

}  // namespace tilescope::show
