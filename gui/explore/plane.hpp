// The plane of tile sizes, drawn and touched.
#pragma once

#include "gui/app.hpp"
#include "gui/draw/canvas.hpp"
#include "show/stage/plane.hpp"

namespace tilescope::gui::explore {

/// The plane with its axes and marks in the area; hovering says a cell's numbers, and a click or a drag runs its
/// tiling.
void draw_plane(Shown& shown, Derived& derived, Screen& screen, Input& input, Box area, const PlanePicture& picture);
/// What is known of a tiling: the one under the mouse, or else the one that runs.
void draw_readout(const Screen& screen, Box area, const CellText& text);

}  // namespace tilescope::gui::explore
