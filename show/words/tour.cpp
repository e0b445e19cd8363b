#include "show/words/tour.hpp"

#include "core/text/message.hpp"

namespace tilescope::show {
using text::message;

std::vector<TourStop> tour_stops() {
    return {{"memory", message("tour.memory_title"), message("tour.memory")},
            {"transport", message("tour.transport_title"), message("tour.transport")},
            {"code", message("tour.code_title"), message("tour.code")},
            {"detail", message("tour.detail_title"), message("tour.detail")},
            {"controls", message("tour.controls_title"), message("tour.controls")}};
}

}  // namespace tilescope::show
