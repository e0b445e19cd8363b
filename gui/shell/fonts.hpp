// The fonts of the system, for the theme.
#pragma once

#include "gui/draw/theme.hpp"

namespace tilescope::gui::shell {

/// Reads fonts from where distributions keep them; empty for a font that is not found.
FontFiles find_fonts();

}  // namespace tilescope::gui::shell
