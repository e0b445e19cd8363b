// Lanes over time in letters: a row for what the tensor cores do for a lane, one for what its own warps do, one for
// what comes over the bus.
#pragma once

#include <span>
#include <string>

#include "core/time/lanes.hpp"

namespace tilescope::show {

/// Draws cycles `from` to `to` in so many columns. A column shows what goes on at its middle: the letter of a product,
/// a load or work, or "-" while the lane waits. The last line says what the letters stand for:
///
///     WG1  tensor cores  |SSSSSSSSSS               OOOOOOOOOO |
///     WG1  warps         |---------- uuusseeeeeeecc---------- |
///     u update_row_max, s shuffle, e exp_minus, c scale_rows
///
/// `play` needs its phases: play_lanes(lanes, machine, true).
std::string lane_chart(std::span<const LaneProgram> lanes, const LanePlay& play, double from, double to, int columns);

}  // namespace tilescope::show
