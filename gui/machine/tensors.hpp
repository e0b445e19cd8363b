// Which tensors are drawn where.
#pragma once

#include <vector>

#include "gui/machine/figure.hpp"
#include "show/words/hbm_text.hpp"

namespace tilescope::gui::machine {

/// A tensor in HBM: one slice of it in front, and what there is behind.
struct DrawnTensor {
    const RecordedTensor* tensor;
    TensorId id;
    Index slice, slices;  ///< the slice shown; the number of slices in the whole run
    Bytes bytes;          ///< of all slices
    bool to_scale = true;
    bool lies = false;    ///< its rows go from left to right, as in the L2
    float depth = 0;      ///< pixels by which the slices behind peep out
    float beside = 0;     ///< pixels on the right, for counts
    Box front = {};       ///< the slice
    Box label = {};       ///< below it
    int label_lines = 1;  ///< lines for which the label has room

    Index across() const { return lies ? tensor->rows : tensor->cols; }
    Index down() const { return lies ? tensor->cols : tensor->rows; }
    /// Turns a box on this tensor as drawn into the box on the upright tensor, or back.
    Box turned(const Box& b) const { return lies ? Box{b.y0, b.x0, b.y1, b.x1} : b; }
    TensorShown shown() const { return {*tensor, slice, slices, bytes}; }
};

/// All tensors, to one scale and as large as possible, with the slices that the SM in focus works on.
std::vector<DrawnTensor> arranged_tensors(const MachineFigure& f, const Box& area);

}  // namespace tilescope::gui::machine
