// A race in numbers, above its two timelines.
#pragma once

#include "gui/app.hpp"
#include "gui/draw/canvas.hpp"

namespace tilescope::gui::gantt {

float scoreboard_height(const Theme& theme);
void draw_scoreboard(const Shown& shown, const Screen& screen, Box area);

}  // namespace tilescope::gui::gantt
