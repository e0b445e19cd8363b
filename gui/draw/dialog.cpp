#include "gui/draw/dialog.hpp"

#include <filesystem>
#include <stdexcept>

#include "core/text/message.hpp"
#include "gui/draw/widgets.hpp"

namespace tilescope::gui {
using text::message;
namespace {

void confirm(PathDialog& d, Asks asks, const Act& act) {
    std::error_code ignored;
    if (asks == Asks::where_to_write && d.replaces != d.path && std::filesystem::is_regular_file(d.path, ignored)) {
        d.replaces = d.path;
        d.error = replacing_text(d.path);
        return;
    }
    try {
        act(d.path);
        ImGui::CloseCurrentPopup();
    } catch (const std::runtime_error& e) {
        d.error = e.what();
    }
}

void contents(Screen& screen, PathDialog& d, Asks asks, const std::string& title, const std::string& verb,
              const Act& act, const std::function<void()>& more) {
    const Theme& t = screen.theme;
    ImGui::PushFont(t.title);
    text_line(title);
    ImGui::PopFont();
    if (ImGui::IsWindowAppearing()) d.error.clear(), d.replaces.clear(), ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-FLT_MIN);
    bool confirmed = text_field("##path", d.path, sizeof d.path);
    screen.place("path");
    if (more) more();
    if (!d.error.empty()) {
        ImGui::PushStyleColor(ImGuiCol_Text, t.bad);
        text_wrapped(d.error);
        ImGui::PopStyleColor();
    }
    confirmed |= button(screen, "path-ok", verb, 0, 2, message("dialog.enter"));
    const bool cancelled = button(screen, "path-cancel", message("dialog.cancel"), 1, 2, message("dialog.escape")) ||
                           ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape));
    if (confirmed) confirm(d, asks, act);
    if (cancelled) ImGui::CloseCurrentPopup();
}

}  // namespace

void path_dialog(Screen& screen, PathDialog& dialog, Asks asks, const std::string& title, const std::string& verb,
                 const Act& act, const std::function<void()>& more) {
    const Theme& t = screen.theme;
    const ImVec2 all = ImGui::GetIO().DisplaySize;
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, t.px(1));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {t.px(18), t.px(14)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, t.px(6));
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(8), t.px(4)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(8), t.px(10)});
    ImGui::SetNextWindowPos({all.x / 2, all.y * 0.4f}, ImGuiCond_Always, {0.5f, 0.5f});
    ImGui::SetNextWindowSize({std::min(t.px(440), all.x * 0.9f), 0});
    constexpr auto fixed = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize;
    if (ImGui::BeginPopupModal(title.c_str(), nullptr, fixed)) {
        contents(screen, dialog, asks, title, verb, act, more);
        ImGui::EndPopup();
    }
    ImGui::PopStyleVar(5);
}

}  // namespace tilescope::gui
