// What stands above a view: the finding, in its tensors' hues, and why.
#pragma once

#include "gui/draw/canvas.hpp"
#include "show/wall_text.hpp"

namespace tilescope::gui {

/// Cuts room for two lines of each off `area`, so that nothing below moves. What is too long for large type is written
/// smaller, and whole.
void draw_words(const Canvas& canvas, Box& area, const show::Sentence& finding, const std::string& reason);

}  // namespace tilescope::gui
