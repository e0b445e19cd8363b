// Where the panels are.
#pragma once

#include "gui/app.hpp"

namespace tilescope::gui {

struct Layout {
    ImVec4 controls, memory, code, detail, strip, transport;  ///< x, y, width, height; no width: not shown
};

/// At a desk: controls on the left, memory in the middle, words and numbers on the right, time below. In a hall: the
/// stage, and below it a strip of words with the time; the other panels are drawers beside the stage. In the hand as in
/// a hall, but on an upright phone a drawer is below the stage, and the strip has no code.
Layout layout(const Shown& shown, const Screen& screen, ImVec2 size);

}  // namespace tilescope::gui
