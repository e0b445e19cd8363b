#include "gui/controls/files.hpp"

#include "gui/draw/dialog.hpp"
#include "gui/draw/widgets.hpp"
#include "show/state/link.hpp"

namespace tilescope::gui::controls {
namespace {

void copy_command(App& app, int column, int columns) {
    if (!button(app, "copy-command", "Copy command", column, columns,
                "Puts the command line that shows exactly this into the clipboard."))
        return;
    ImGui::SetClipboardText(shell_command(app.state()).c_str());
    app.say("Command copied");
}

void copy_link(App& app, int column, int columns) {
    if (!button(app, "copy-link", "Copy link", column, columns,
                "Puts a link to exactly this into the clipboard: for a message, a slide, a page."))
        return;
    const LinkWords link = link_words(app.state(), app.scene ? &*app.scene : nullptr);
    ImGui::SetClipboardText((app.page->address + "#" + fragment_of(link.words)).c_str());
    app.say(link_copied_text(link));
}

void save_and_open(App& app, int column, int columns) {
    if (button(app, "save", "Save…", column, columns, "Saves what is shown to a small JSON file."))
        ImGui::OpenPopup("Save what is shown");
    if (!button(app, "open", "Open…", column + 1, columns, "Shows again what was saved.")) return;
    if (app.page)
        app.page->opens = true;
    else
        ImGui::OpenPopup("Open what was saved");
}

}  // namespace

void file_controls(App& app) {
    if (app.page) {
        save_and_open(app, 1, 3);
        copy_link(app, 0, 2);
        copy_command(app, 1, 2);
    } else {
        copy_command(app, 1, 4);
        save_and_open(app, 2, 4);
    }
    path_dialog(app, app.dialog, Asks::where_to_write, "Save what is shown", "Save",
                [](App& a, const std::string& path) {
                    save_shown(a.state(), a.scene ? &*a.scene : nullptr, path);
                    a.say(saved_text(path));
                });
    path_dialog(app, app.dialog, Asks::what_to_read, "Open what was saved", "Open",
                [](App& a, const std::string& path) {
                    const Saved saved = read_saved(path);
                    a.open(saved);
                    a.say(opened_text(path, saved.state));
                });
}

}  // namespace tilescope::gui::controls
