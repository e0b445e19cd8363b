// Where the tiles of one SM are drawn, and how what moves gets to them.
#pragma once

#include <vector>

#include "gui/machine/figure.hpp"
#include "show/crossing.hpp"

namespace tilescope::gui::machine {

struct DrawnHeld {
    const Held* held;
    Box slot;  ///< as large as any tile that it ever has
    Box box;   ///< the tile that it has now
};

/// Between tiles; what lies in one space has a frame at a third of it.
float gap_in(const MachineFigure& f, const Box& area);

/// Pixels an element: as many as there is room for.
float scale_for(const MachineFigure& f, const std::vector<Held>& all, const Box& area);

/// All to that scale; what is too thin to be seen is drawn wider.
std::vector<DrawnHeld> arranged(const MachineFigure& f, const std::vector<Held>& all, const Box& area);

/// The points between the lower edge of `area` and a tile, the first one on that edge: around the tiles between.
std::vector<ImVec2> way_to(const MachineFigure& f, const std::vector<DrawnHeld>& all, const DrawnHeld& tile,
                           const Box& area);

}  // namespace tilescope::gui::machine
