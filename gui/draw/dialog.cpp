#include "gui/draw/dialog.hpp"

#include <filesystem>
#include <stdexcept>

#include "gui/draw/widgets.hpp"

namespace tilescope::gui {
namespace {

void confirm(App& app, PathDialog& d, Asks asks, void (*act)(App&, const std::string&)) {
    std::error_code ignored;
    if (asks == Asks::where_to_write && d.replaces != d.path && std::filesystem::is_regular_file(d.path, ignored)) {
        d.replaces = d.path;
        d.error = replacing_text(d.path);
        return;
    }
    try {
        act(app, d.path);
        ImGui::CloseCurrentPopup();
    } catch (const std::runtime_error& e) {
        d.error = e.what();
    }
}

void contents(App& app, PathDialog& d, Asks asks, const char* title, const char* verb,
              void (*act)(App&, const std::string&), void (*more)(App&)) {
    const Theme& t = app.theme;
    ImGui::PushFont(t.title);
    text_line(title);
    ImGui::PopFont();
    if (ImGui::IsWindowAppearing()) d.error.clear(), d.replaces.clear(), ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-FLT_MIN);
    bool confirmed = text_field("##path", d.path, sizeof d.path);
    app.place("path");
    if (more) more(app);
    if (!d.error.empty()) {
        ImGui::PushStyleColor(ImGuiCol_Text, t.bad);
        text_wrapped(d.error);
        ImGui::PopStyleColor();
    }
    confirmed |= button(app, "path-ok", verb, 0, 2, "Enter");
    const bool cancelled =
        button(app, "path-cancel", "Cancel", 1, 2, "Esc") || ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape));
    if (confirmed) confirm(app, d, asks, act);
    if (cancelled) ImGui::CloseCurrentPopup();
}

}  // namespace

void path_dialog(App& app, PathDialog& dialog, Asks asks, const char* title, const char* verb,
                 void (*act)(App&, const std::string&), void (*more)(App&)) {
    const Theme& t = app.theme;
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, t.px(1));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {t.px(18), t.px(14)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, t.px(6));
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(8), t.px(4)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(8), t.px(10)});
    ImGui::SetNextWindowPos({screen.x / 2, screen.y * 0.4f}, ImGuiCond_Always, {0.5f, 0.5f});
    ImGui::SetNextWindowSize({std::min(t.px(440), screen.x * 0.9f), 0});
    constexpr auto fixed = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize;
    if (ImGui::BeginPopupModal(title, nullptr, fixed)) {
        contents(app, dialog, asks, title, verb, act, more);
        ImGui::EndPopup();
    }
    ImGui::PopStyleVar(5);
}

}  // namespace tilescope::gui
