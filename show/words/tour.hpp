// The tour of the window: what its cards say.
#pragma once

#include <string>
#include <vector>

namespace tilescope::show {

/// A card beside a panel.
struct TourStop {
    const char* panel;
    std::string title, text;
};
std::vector<TourStop> tour_stops();

}  // namespace tilescope::show
