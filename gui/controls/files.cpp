#include "gui/controls/files.hpp"

#include <stdexcept>

#include "gui/draw/widgets.hpp"
#include "show/state.hpp"

namespace tilescope::gui::controls {
namespace {

/// Carries out `act` with the path that was given; an error is shown, and leaves the dialog open.
void confirm(App& app, void (*act)(App&, const std::string&)) {
    try {
        act(app, app.dialog.path);
        ImGui::CloseCurrentPopup();
    } catch (const std::runtime_error& e) {
        app.dialog.error = e.what();
    }
}

/// Asks for a path.
void path_dialog(App& app, const char* title, const char* verb, void (*act)(App&, const std::string&)) {
    const Theme& t = app.theme;
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({screen.x / 2, screen.y * 0.4f}, ImGuiCond_Always, {0.5f, 0.5f});
    ImGui::SetNextWindowSize({std::min(t.px(440), screen.x * 0.9f), 0});
    constexpr auto fixed = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize;
    if (!ImGui::BeginPopupModal(title, nullptr, fixed)) return;
    PathDialog& d = app.dialog;
    ImGui::PushFont(t.title);
    text_line(title);
    ImGui::PopFont();
    if (ImGui::IsWindowAppearing()) d.error.clear(), ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-FLT_MIN);
    bool confirmed = text_field("##path", d.path, sizeof d.path);
    app.place("path");
    if (!d.error.empty()) {
        ImGui::PushStyleColor(ImGuiCol_Text, t.bad);
        text_wrapped(d.error);
        ImGui::PopStyleColor();
    }
    confirmed |= button(app, "path-ok", verb, 0, 2, "Enter");
    const bool cancelled =
        button(app, "path-cancel", "Cancel", 1, 2, "Esc") || ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape));
    if (confirmed) confirm(app, act);
    if (cancelled) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

}  // namespace

void file_controls(App& app) {
    if (button(app, "copy-command", "Copy command", 1, 2,
               "Puts the command line that shows exactly this into the clipboard.")) {
        ImGui::SetClipboardText(shell_command(app.state()).c_str());
        app.say("Command copied");
    }
    if (button(app, "save", "Save…", 0, 2, "Saves what is shown to a small JSON file."))
        ImGui::OpenPopup("Save what is shown");
    if (button(app, "open", "Open…", 1, 2, "Shows again what was saved.")) ImGui::OpenPopup("Open what was saved");

    const Theme& t = app.theme;
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, t.px(1));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {t.px(18), t.px(14)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, t.px(6));
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(8), t.px(4)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(8), t.px(10)});
    path_dialog(app, "Save what is shown", "Save", [](App& a, const std::string& path) {
        save_state(a.state(), path);
        a.say(saved_text(path));
    });
    path_dialog(app, "Open what was saved", "Open", [](App& a, const std::string& path) {
        const State state = read_state(path);
        a.restore(state);
        a.say(opened_text(path, state));
    });
    ImGui::PopStyleVar(5);
}

}  // namespace tilescope::gui::controls
