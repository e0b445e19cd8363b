// The tour of the window: what its cards say.
#pragma once

#include <span>

namespace tilescope::show {

/// A card beside a panel.
struct TourStop {
    const char *panel, *title, *text;
};
std::span<const TourStop> tour_stops();

}  // namespace tilescope::show
