#include "gui/controls/files.hpp"

#include "gui/draw/dialog.hpp"
#include "gui/draw/widgets.hpp"
#include "show/state/link.hpp"

namespace tilescope::gui::controls {
namespace {

void copy_command(const Shown& shown, Screen& screen, int column, int columns) {
    if (!button(screen, "copy-command", "Copy command", column, columns,
                "Puts the command line that shows exactly this into the clipboard."))
        return;
    ImGui::SetClipboardText(shell_command(shown.state()).c_str());
    screen.say("Command copied");
}

void copy_link(const Shown& shown, Screen& screen, const Host& host, int column, int columns) {
    if (!button(screen, "copy-link", "Copy link", column, columns,
                "Puts a link to exactly this into the clipboard: for a message, a slide, a page."))
        return;
    const LinkWords link = link_words(shown.state(), shown.scene ? &*shown.scene : nullptr);
    ImGui::SetClipboardText((host.page->address + "#" + fragment_of(link.words)).c_str());
    screen.say(link_copied_text(link));
}

void save_and_open(Screen& screen, Host& host, int column, int columns) {
    if (button(screen, "save", "Save…", column, columns, "Saves what is shown to a small JSON file."))
        ImGui::OpenPopup("Save what is shown");
    if (!button(screen, "open", "Open…", column + 1, columns, "Shows again what was saved.")) return;
    if (host.page)
        host.page->opens = true;
    else
        ImGui::OpenPopup("Open what was saved");
}

}  // namespace

void file_controls(Shown& shown, Screen& screen, Files& files, Host& host) {
    if (host.page) {
        save_and_open(screen, host, 1, 3);
        copy_link(shown, screen, host, 0, 2);
        copy_command(shown, screen, 1, 2);
    } else {
        copy_command(shown, screen, 1, 4);
        save_and_open(screen, host, 2, 4);
    }
    path_dialog(screen, files.dialog, Asks::where_to_write, "Save what is shown", "Save", [&](const std::string& path) {
        save_shown(shown.state(), shown.scene ? &*shown.scene : nullptr, path);
        screen.say(saved_text(path));
    });
    path_dialog(screen, files.dialog, Asks::what_to_read, "Open what was saved", "Open", [&](const std::string& path) {
        const Saved saved = read_saved(path);
        shown.open(saved);
        screen.say(opened_text(path, saved.state));
    });
}

}  // namespace tilescope::gui::controls
