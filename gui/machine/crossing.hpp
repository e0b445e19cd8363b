// Where the tiles of one SM are drawn, and how moving tiles get there.
#pragma once

#include <vector>

#include "gui/machine/figure.hpp"
#include "show/stage/crossing.hpp"

namespace tilescope::gui::machine {

struct DrawnHeld {
    const Held* held;
    Box slot;  ///< as large as any tile that it ever has
    Box box;   ///< the tile that it has now
};

/// The gap between tiles; the frame around the tiles of one space is a third of it away.
float gap_in(const MachineFigure& f, const Box& area);

/// Pixels an element: as many as fit into `area`.
float scale_for(const MachineFigure& f, const std::vector<Held>& all, const Box& area);

/// All tiles to that scale; those too thin to be seen are drawn wider.
std::vector<DrawnHeld> arranged(const MachineFigure& f, const std::vector<Held>& all, const Box& area);

/// The path from the lower edge of `area` to a tile, beginning on that edge: around the tiles between.
std::vector<ImVec2> way_to(const MachineFigure& f, const std::vector<DrawnHeld>& all, const DrawnHeld& tile,
                           const Box& area);

}  // namespace tilescope::gui::machine
