// One row in every softmax program, below each other: keys stand below themselves.
#pragma once

#include "gui/draw/canvas.hpp"
#include "show/softmaxes.hpp"

namespace tilescope::gui::row {

void draw_softmaxes(const Canvas& canvas, const std::vector<show::SoftmaxMoment>& programs, Box area);

}  // namespace tilescope::gui::row
