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
    Index region = -1;  ///< into RecordedTensor::regions; -1: a cell of merged regions

    bool touched() const { return touches.loads + touches.stores > 0; }
};

struct Cells {
    std::vector<Cell> grid;    ///< of regions cut like the first one of the slice: they do not overlap
    std::vector<Cell> others;  ///< of regions cut in another way, over the same elements; only regions touched so far
    bool overlap = false;      ///< the run uses regions cut in another way, now or later
};

/// The place of a region in a slice that is drawn at `at`.
Box place_of(const RecordedTensor& tensor, const Region& region, const Box& at);

/// The cells of a slice that is drawn at `at`; none is smaller than `least` pixels.
Cells cells_of(const show::Run& run, TensorId tensor, Index slice, const Box& at, float least);

}  // namespace tilescope::gui::machine
