// What the panels of values and counters share. They take turns in one place on the screen.
#pragma once

#include <string>

#include "gui/app.hpp"

namespace tilescope::gui::detail {

/// Two tabs, and on the right of them `about`: what the panel is about.
void detail_tabs(Shown& shown, Screen& screen, const std::string& about);
/// A sentence in place of what cannot be shown.
void say_instead(const Screen& screen, const std::string& sentence);

}  // namespace tilescope::gui::detail
