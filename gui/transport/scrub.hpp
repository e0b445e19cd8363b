// The whole run as a bar to drag along: what moves when, where launches and thread blocks begin, and where we are.
#pragma once

#include "gui/app.hpp"

namespace tilescope::gui::transport {

/// Fills the width, `height` pixels high.
void scrub_bar(Shown& shown, Screen& screen, float height);

}  // namespace tilescope::gui::transport
