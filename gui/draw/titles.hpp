// Words beside rows and columns, where there is room for them.
#pragma once

#include "gui/draw/canvas.hpp"
#include "show/titles.hpp"

namespace tilescope::gui {

/// Every how many pieces of `pixels` there is `room` for a title; 0 where titles would stand too far apart to say whose
/// they are.
Index titles_every(float room, float pixels);

/// Titles of columns of `pixels` whose first begins at `left`: of every n-th that begins within `line`.
void draw_titles(const Canvas& canvas, const show::Session& session, const Box& line, float left, float pixels,
                 Index every, Index columns);

}  // namespace tilescope::gui
