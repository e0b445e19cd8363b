#include "gui/detail/tabs.hpp"

#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"

namespace tilescope::gui::detail {
namespace {

/// One tab; the one that is shown is underlined.
void tab(App& app, Detail detail, const char* name, const char* place) {
    const Theme& t = app.theme;
    const bool shown = app.view.detail == detail;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size = {Canvas::width(t.title, name) + t.px(4), t.title->FontSize + t.px(7)};
    if (ImGui::InvisibleButton(place, size)) app.view.detail = detail;
    app.place(place);
    const bool over = ImGui::IsItemHovered();
    const Canvas c(t);
    c.text(t.title, {at.x + t.px(2), at.y + t.px(1)}, shown || over ? t.ink : t.dim_ink, name);
    if (shown || over)
        c.fill({at.x, at.y + size.y - t.px(3), at.x + size.x, at.y + size.y}, shown ? t.highlight : t.faint);
}

}  // namespace

void detail_tabs(App& app, const std::string& about) {
    const Theme& t = app.theme;
    tab(app, Detail::values, "Values", "tab-values");
    ImGui::SameLine(0, t.px(14));
    tab(app, Detail::counters, "Counters", "tab-counters");
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
