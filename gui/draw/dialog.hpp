// The dialog that asks for the path of a file.
#pragma once

#include "gui/app.hpp"

namespace tilescope::gui {

enum class Asks : std::uint8_t { what_to_read, where_to_write };

/// For every frame: the dialog `title`, where ImGui::OpenPopup() has opened it. `act` carries out what it is for; its
/// error is shown, and leaves the dialog open. A file that is there is replaced when it is confirmed twice. `more`
/// draws what else there is to choose.
void path_dialog(App& app, PathDialog& dialog, Asks asks, const char* title, const char* verb,
                 void (*act)(App&, const std::string& path), void (*more)(App&) = nullptr);

}  // namespace tilescope::gui
