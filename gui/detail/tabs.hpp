// What the two panels share that take turns in one place on the screen: values and counters.
#pragma once

#include <string>

#include "gui/app.hpp"

namespace tilescope::gui::detail {

/// Two tabs, and on the right of them `about`: what the panel is about.
void detail_tabs(App& app, const std::string& about);
/// A sentence in place of what cannot be shown.
void say_instead(const App& app, const std::string& sentence);

/// Width of `text` in `font`.
float width_of(const ImFont* font, const std::string& text);
/// Draws `text` with its top left corner at `at`.
void put(const ImFont* font, ImVec2 at, ImU32 colour, const std::string& text);
/// `text`, cut to fit into `width` pixels.
std::string fitted(const ImFont* font, const std::string& text, float width);

}  // namespace tilescope::gui::detail
