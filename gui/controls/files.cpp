#include "gui/controls/files.hpp"

#include "gui/draw/dialog.hpp"
#include "gui/draw/message.hpp"
#include "gui/draw/widgets.hpp"
#include "show/state/link.hpp"

namespace tilescope::gui::controls {
namespace {

void copy_command(const Shown& shown, Screen& screen, int column, int columns) {
    if (!button(screen, "copy-command", message("file_controls.copy_command"), column, columns,
                message("file_controls.about_copy_command")))
        return;
    ImGui::SetClipboardText(shell_command(shown.state()).c_str());
    screen.say(message("file_controls.command_copied"));
}

void copy_link(const Shown& shown, Screen& screen, const Host& host, int column, int columns) {
    if (!button(screen, "copy-link", message("file_controls.copy_link"), column, columns,
                message("file_controls.about_copy_link")))
        return;
    const LinkWords link = link_words(shown.state(), shown.scene ? &*shown.scene : nullptr);
    ImGui::SetClipboardText((host.page->address + "#" + fragment_of(link.words)).c_str());
    screen.say(link_copied_text(link));
}

void save_and_open(Screen& screen, Host& host, int column, int columns) {
    if (button(screen, "save", message("file_controls.begin_save"), column, columns,
               message("file_controls.about_save")))
        ImGui::OpenPopup(message("file_controls.save_title").c_str());
    if (!button(screen, "open", message("file_controls.begin_open"), column + 1, columns,
                message("file_controls.about_open")))
        return;
    if (host.page)
        host.page->opens = true;
    else
        ImGui::OpenPopup(message("file_controls.open_title").c_str());
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
    path_dialog(screen, files.dialog, Asks::where_to_write, message("file_controls.save_title"),
                message("file_controls.save"), [&](const std::string& path) {
                    save_shown(shown.state(), shown.scene ? &*shown.scene : nullptr, path);
                    screen.say(saved_text(path));
                });
    path_dialog(screen, files.dialog, Asks::what_to_read, message("file_controls.open_title"),
                message("file_controls.open"), [&](const std::string& path) {
                    const Saved saved = read_saved(path);
                    shown.open(saved);
                    screen.say(opened_text(path, saved.state));
                });
}

}  // namespace tilescope::gui::controls
