// The dialog that asks for the path of a file.
#pragma once

#include <functional>
#include <string>

#include "gui/app.hpp"

namespace tilescope::gui {

enum class Asks : std::uint8_t { what_to_read, where_to_write };
using Act = std::function<void(const std::string& path)>;

/// To be called in every frame: draws the dialog `title` once ImGui::OpenPopup() has opened it. `act` reads or writes
/// the file; its error is shown and leaves the dialog open. A file that exists is replaced after a second confirmation.
/// `more` draws further choices.
void path_dialog(Screen& screen, PathDialog& dialog, Asks asks, const std::string& title, const std::string& verb,
                 const Act& act, const std::function<void()>& more = {});

}  // namespace tilescope::gui
