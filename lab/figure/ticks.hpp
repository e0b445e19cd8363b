// Where the ticks of an axis are, and what they say.
#pragma once

#include <string>
#include <vector>

#include "lab/figure/figure.hpp"

namespace tilescope::lab {

/// 1, 2 or 5 times a power of ten, so that at most about `n` of them are within `length`.
double round_step(double length, int n);
/// "512", "4k", "1M" where they are such multiples; else all digits.
std::string brief(double size);
/// Sizes between two others, that are round: powers of 2, or multiples of one. On a logarithmic axis, or a linear one.
std::vector<FigureAxis::Tick> round_sizes(double from, double to, bool log);
/// Gives a linear axis a range from 0 to more than the largest number, and round ticks in one unit: how much one is.
double in_one_unit(FigureAxis& axis, double largest);

/// Bars leave so much more than their height for the numbers above them.
inline constexpr double with_label = 1.06;

}  // namespace tilescope::lab
