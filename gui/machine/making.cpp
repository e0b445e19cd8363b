// A note about the run that is being made, over the run that was shown before.
#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/message.hpp"
#include "gui/panels.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui::machine {

void making_panel(Shown& shown, Screen& screen, ImVec2 corner) {
    const Theme& t = screen.theme;
    const NotedAs as("making");
    const ImGuiStyle& style = ImGui::GetStyle();
    const std::string cancel = message("dialog.cancel"), text = making_text(shown.session.progress());
    const float words = width_of(message("setup.recording", 100)) + style.ItemSpacing.x,
                button = width_of(cancel) + t.px(14);
    ImGui::SetCursorScreenPos(corner);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, t.panel);
    ImGui::PushStyleColor(ImGuiCol_Border, t.highlight);
    ImGui::BeginChild("making",
                      {words + button + 2 * style.WindowPadding.x, ImGui::GetFrameHeight() + 2 * style.WindowPadding.y},
                      true, ImGuiWindowFlags_NoScrollbar);
    ImGui::AlignTextToFramePadding();
    text_line(text);
    ImGui::SameLine(style.WindowPadding.x + words);
    const bool cancelled = push_button(cancel, {button, 0});
    screen.place("cancel");
    ImGui::EndChild();
    ImGui::PopStyleColor(2);
    if (cancelled) shown.session.cancel();
}

}  // namespace tilescope::gui::machine
