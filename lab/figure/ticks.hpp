// Where the ticks of an axis are, and what they say.
#pragma once

#include <string>
#include <vector>

#include "lab/figure/figure.hpp"

namespace tilescope::lab {

/// The step between ticks, 1, 2 or 5 times a power of ten: at most about `n` steps fit into `length`.
double round_step(double length, int n);
/// "4k" or "1M" for multiples of 1024 or 1024^2, else all digits: "512".
std::string brief(double size);
/// Ticks at round sizes from `from` to `to`: at powers of 2 if `log` and the range has enough of these, else at equal
/// steps.
std::vector<FigureAxis::Tick> round_sizes(double from, double to, bool log);
/// Gives a linear axis a range from 0 to at least `largest`, and round ticks in one unit. Returns the value of the
/// unit.
double in_one_unit(FigureAxis& axis, double largest);

/// The axis of bars goes up to this many times the highest one, so that numbers have room above the bars.
inline constexpr double with_label = 1.06;

}  // namespace tilescope::lab
