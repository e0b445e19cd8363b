// Words beside rows and columns, where there is room for them.
#pragma once

#include "gui/draw/canvas.hpp"
#include "show/words/titles.hpp"

namespace tilescope::gui {

/// The least n such that every n-th row (or column) has room for a title: a row has `pixels` pixels, a title takes
/// `room`. 0 where n would be above 4, because nobody would see which row a title names.
Index titles_every(float room, float pixels);

/// Columns are `pixels` wide, the first begins at `left`. Every `every`-th one that begins within `line` has a title.
void draw_titles(const Canvas& canvas, const show::Session& session, const Box& line, float left, float pixels,
                 Index every, Index columns);

}  // namespace tilescope::gui
