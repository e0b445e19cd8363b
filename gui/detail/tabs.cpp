#include "gui/detail/tabs.hpp"

#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/widgets.hpp"

namespace tilescope::gui::detail {
void detail_tabs(App& app, const std::string& about) {
    const Theme& t = app.theme;
    if (tab(app, "tab-values", "Values", app.view.detail == Detail::values)) app.view.detail = Detail::values;
    ImGui::SameLine(0, t.px(14));
    if (tab(app, "tab-counters", "Counters", app.view.detail == Detail::counters)) app.view.detail = Detail::counters;
    const ImVec2 left = ImGui::GetItemRectMax(), top = ImGui::GetItemRectMin();
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    const float y = top.y + t.px(4);
    Canvas(t).text_in(t.small_text, {left.x + t.px(12), y, right, y + t.small_text->FontSize}, t.dim_ink, about,
                      Align::right);
}

void say_instead(const App& app, const std::string& sentence) {
    ImGui::PushStyleColor(ImGuiCol_Text, app.theme.dim_ink);
    text_wrapped(sentence);
    ImGui::PopStyleColor();
}

}  // namespace tilescope::gui::detail
