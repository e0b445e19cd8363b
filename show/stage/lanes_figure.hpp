// Lanes over time as a figure: rows with rectangles, what ended each wait, whose turn it is, and slots of the rings.
#pragma once

#include <span>
#include <string>

#include "lab/figure/kinds.hpp"
#include "show/stage/lanes.hpp"

namespace tilescope::show {

/// Draws views below each other on one axis of cycles; the slots of rings where there is one view.
lab::Panel lanes_panel(std::span<const LaneView> views, std::span<const std::string> titles);

lab::Figure lanes_figure(const lab::FigureRequest& request);
inline constexpr lab::FigureKind lanes_kind{"lanes", "figure.about_lanes", lanes_figure};

}  // namespace tilescope::show
