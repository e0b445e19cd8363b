// Lanes of a thread block in time, in the place of thread blocks on SMs.
#pragma once

#include "gui/app.hpp"

namespace tilescope::gui::gantt {

/// Whether the run's kernel has lanes whose times are modelled, and no other run races.
bool has_lanes(const Shown& shown);
/// What the view of time shows: thread blocks, lanes, or the lanes of four kernels.
void draw_lane_tabs(Shown& shown, Screen& screen);
void lanes_panel(Shown& shown, Derived& derived, Screen& screen);

}  // namespace tilescope::gui::gantt
