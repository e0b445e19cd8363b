#include "gui/detail/tabs.hpp"

#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/message.hpp"
#include "gui/draw/widgets.hpp"

namespace tilescope::gui::detail {
void detail_tabs(Shown& shown, Screen& screen, const std::string& about) {
    const Theme& t = screen.theme;
    if (tab(screen, "tab-values", message("detail.values"), shown.view.detail == Detail::values))
        shown.view.detail = Detail::values;
    ImGui::SameLine(0, t.px(14));
    if (tab(screen, "tab-counters", message("detail.counters"), shown.view.detail == Detail::counters))
        shown.view.detail = Detail::counters;
    const ImVec2 left = ImGui::GetItemRectMax(), top = ImGui::GetItemRectMin();
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    const float y = top.y + t.px(4);
    Canvas(t).text_in(t.small_text, {left.x + t.px(12), y, right, y + t.small_text->FontSize}, t.dim_ink, about,
                      Align::right);
}

void say_instead(const Screen& screen, const std::string& sentence) {
    ImGui::PushStyleColor(ImGuiCol_Text, screen.theme.dim_ink);
    text_wrapped(sentence);
    ImGui::PopStyleColor();
}

}  // namespace tilescope::gui::detail
