// The dialog that asks for the path of a file.
#pragma once

#include "gui/app.hpp"

namespace tilescope::gui {

/// For every frame: the dialog `title`, where ImGui::OpenPopup() has opened it. `act` carries out what it is for; its
/// error is shown, and leaves the dialog open.
void path_dialog(App& app, PathDialog& dialog, const char* title, const char* verb,
                 void (*act)(App&, const std::string& path));

}  // namespace tilescope::gui
