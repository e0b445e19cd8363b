// Lanes over time as tracks of a trace for ui.perfetto.dev.
#pragma once

#include "core/time/perfetto.hpp"
#include "show/stage/lanes.hpp"

namespace tilescope::show {

/// Draws what the view shows from time 0 on, below a track of its own: rows, whose turn it is, and slots of rings.
void write_lanes(PerfettoTrace& out, const LaneView& view, double clock_mhz);

}  // namespace tilescope::show
