// Saving and opening what is shown, and the command that shows it again.
#pragma once

#include "gui/app.hpp"

namespace tilescope::gui::controls {

/// The rest of a row that has one button, and a row of two: Copy command, Save, Open.
void file_controls(Shown& shown, Screen& screen, Files& files, Host& host);

}  // namespace tilescope::gui::controls
