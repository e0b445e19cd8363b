// Words beside rows and columns, where there is room for them.
#pragma once

#include "gui/draw/canvas.hpp"
#include "show/words/titles.hpp"

namespace tilescope::gui {

/// n, where every n-th piece of `pixels` pixels can have a title that takes `room`; 0 where titles would be too far
/// apart to show which piece they name.
Index titles_every(float room, float pixels);

/// Columns are `pixels` wide, the first begins at `left`. Every `every`-th one that begins within `line` has a title.
void draw_titles(const Canvas& canvas, const show::Session& session, const Box& line, float left, float pixels,
                 Index every, Index columns);

}  // namespace tilescope::gui
