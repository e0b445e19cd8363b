// Bytes so far as a bar, by tensor.
#pragma once

#include <string>
#include <vector>

#include "gui/draw/canvas.hpp"

namespace tilescope::gui {

struct TrafficPart {
    Bytes bytes;
    ImU32 colour;
    std::string name;
};

/// Beside each other; what is to come, up to `end`, is a dashed outline.
void draw_traffic_bar(const Canvas& canvas, const Box& bar, double pixels_per_byte,
                      const std::vector<TrafficPart>& parts, Bytes end);

}  // namespace tilescope::gui
