// Pixels, shares and what is typed as whole numbers.
#pragma once

#include "core/machine/units.hpp"

namespace tilescope::gui {

/// `x` without its fraction and no further than from `least` to `most`; what is no number is `least`. To cast a number
/// that the whole ones do not have is undefined, and windows may have any size.
inline Index whole(double x, Index least, Index most) {
    if (!(x > static_cast<double>(least))) return least;
    return x < static_cast<double>(most) ? static_cast<Index>(x) : most;
}

}  // namespace tilescope::gui
