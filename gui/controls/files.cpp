#include "gui/controls/files.hpp"

#include "gui/draw/dialog.hpp"
#include "gui/draw/widgets.hpp"
#include "show/link.hpp"

namespace tilescope::gui::controls {
void file_controls(App& app) {
    // In a page there is one more, and two rows; Tour is the first of all.
    const int columns = app.page ? 3 : 4;
    if (app.page && button(app, "copy-link", "Copy link", 1, columns,
                           "Puts a link to exactly this into the clipboard: for a message, a slide, a page.")) {
        const LinkWords link = link_words(app.state(), app.scene ? &*app.scene : nullptr);
        ImGui::SetClipboardText((app.page->address + "#" + fragment_of(link.words)).c_str());
        app.say(link_copied_text(link));
    }
    if (button(app, "copy-command", "Copy command", app.page ? 2 : 1, columns,
               "Puts the command line that shows exactly this into the clipboard.")) {
        ImGui::SetClipboardText(shell_command(app.state()).c_str());
        app.say("Command copied");
    }
    if (button(app, "save", "Save…", app.page ? 0 : 2, columns, "Saves what is shown to a small JSON file."))
        ImGui::OpenPopup("Save what is shown");
    if (button(app, "open", "Open…", app.page ? 1 : 3, columns, "Shows again what was saved.")) {
        if (app.page)
            app.page->opens = true;
        else
            ImGui::OpenPopup("Open what was saved");
    }

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
