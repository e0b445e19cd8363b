// Bytes so far as a bar, by tensor.
#pragma once

#include <string>
#include <vector>

#include "gui/draw/canvas.hpp"
#include "show/run/run.hpp"

namespace tilescope::gui {

struct TrafficPart {
    Bytes bytes;
    ImU32 colour;
    std::string name;
};

/// SM traffic so far: read, then written and paler; each tensor in its hue.
std::vector<TrafficPart> sm_traffic_parts(const Theme& theme, const show::Run& run);

/// Parts side by side; bytes to come, up to `end`, are a dashed outline.
void draw_traffic_bar(const Canvas& canvas, const Box& bar, double pixels_per_byte,
                      const std::vector<TrafficPart>& parts, Bytes end);

}  // namespace tilescope::gui
