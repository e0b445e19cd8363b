// Where the tiles of one SM are drawn, and how moving tiles get there.
#pragma once

#include <vector>

#include "gui/machine/figure.hpp"
#include "show/stage/crossing.hpp"

namespace tilescope::gui::machine {

struct DrawnHeld {
    const Held* held;
    Box slot;  ///< the place of the buffer, as large as the largest tile in it
    Box box;   ///< of the tile that is in the buffer now
};

/// The gap between tiles; the frame around the tiles of one space is a third of the gap away.
float gap_in(const MachineFigure& f, const Box& area);

/// Pixels per element: the most with which all tiles fit into `area`.
float scale_for(const MachineFigure& f, const std::vector<Held>& all, const Box& area);

/// The places of all tiles at scale_for(). Tiles too thin to be seen are wider.
std::vector<DrawnHeld> arranged(const MachineFigure& f, const std::vector<Held>& all, const Box& area);

/// The path from the lower edge of `area` to a tile, beginning on that edge: around the tiles between.
std::vector<ImVec2> way_to(const MachineFigure& f, const std::vector<DrawnHeld>& all, const DrawnHeld& tile,
                           const Box& area);

}  // namespace tilescope::gui::machine
