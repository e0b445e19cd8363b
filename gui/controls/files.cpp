#include "gui/controls/files.hpp"

#include "gui/draw/dialog.hpp"
#include "gui/draw/widgets.hpp"
#include "show/state.hpp"

namespace tilescope::gui::controls {
void file_controls(App& app) {
    if (button(app, "copy-command", "Copy command", 1, 4,
               "Puts the command line that shows exactly this into the clipboard.")) {
        ImGui::SetClipboardText(shell_command(app.state()).c_str());
        app.say("Command copied");
    }
    if (button(app, "save", "Save…", 2, 4, "Saves what is shown to a small JSON file."))
        ImGui::OpenPopup("Save what is shown");
    if (button(app, "open", "Open…", 3, 4, "Shows again what was saved.")) ImGui::OpenPopup("Open what was saved");

    path_dialog(app, app.dialog, Asks::where_to_write, "Save what is shown", "Save",
                [](App& a, const std::string& path) {
                    save_state(a.state(), path);
                    a.say(saved_text(path));
                });
    path_dialog(app, app.dialog, Asks::what_to_read, "Open what was saved", "Open",
                [](App& a, const std::string& path) {
                    const State state = read_state(path);
                    a.restore(state);
                    a.say(opened_text(path, state));
                });
}

}  // namespace tilescope::gui::controls
