// Conversion of pixels, shares and typed numbers to whole numbers.
#pragma once

#include "core/machine/units.hpp"

namespace tilescope::gui {

/// `x` without its fraction, at least `least` and at most `most`; NaN becomes `least`. A cast of a number that Index
/// does not have is undefined, and windows may have any size.
inline Index whole(double x, Index least, Index most) {
    if (!(x > static_cast<double>(least))) return least;
    return x < static_cast<double>(most) ? static_cast<Index>(x) : most;
}

}  // namespace tilescope::gui
