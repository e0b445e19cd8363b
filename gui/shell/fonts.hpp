// The fonts of the system, for the theme.
#pragma once

#include "gui/draw/theme.hpp"

namespace tilescope::gui::shell {

/// Reads fonts from where distributions keep them; the text of a font that there is not is empty.
FontFiles find_fonts();

}  // namespace tilescope::gui::shell
