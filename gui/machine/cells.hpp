// One slice of a tensor as cells on the screen: a cell for each region, merged where regions are too small to see.
#pragma once

#include <vector>

#include "gui/draw/canvas.hpp"
#include "show/words/hbm_text.hpp"

namespace tilescope::gui::machine {

using show::Touches;

struct Cell {
    Box box;
    Touches touches = {};
    Index region = -1;  ///< into RecordedTensor::regions; -1: several in one

    bool touched() const { return touches.loads + touches.stores > 0; }
};

struct Cells {
    std::vector<Cell> grid;    ///< of regions of the shape of the first one used: they do not overlap
    std::vector<Cell> others;  ///< of regions of another shape, over the same elements; only what was touched so far
    bool overlap = false;      ///< there are such others, now or later
};

/// The place of a region in a slice that is drawn at `at`.
Box place_of(const RecordedTensor& tensor, const Region& region, const Box& at);

/// The cells of a slice that is drawn at `at`; none is smaller than `least` pixels.
Cells cells_of(const show::Run& run, TensorId tensor, Index slice, const Box& at, float least);

}  // namespace tilescope::gui::machine
