// One row in every softmax program, one below the other, with each key in the same column.
#pragma once

#include "gui/draw/canvas.hpp"
#include "show/stage/softmaxes.hpp"

namespace tilescope::gui::row {

void draw_softmaxes(const Canvas& canvas, const std::vector<show::SoftmaxMoment>& programs, Box area);

}  // namespace tilescope::gui::row
