#include "gui/detail/tabs.hpp"

#include <cfloat>
#include <cmath>

namespace tilescope::gui::detail {
namespace {

/// One tab; the one that is shown is underlined.
void tab(App& app, Detail detail, const char* name, const char* place) {
    const Theme& t = app.theme;
    const bool shown = app.view.detail == detail;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size = {width_of(t.title, name) + t.px(4), t.title->FontSize + t.px(7)};
    if (ImGui::InvisibleButton(place, size)) app.view.detail = detail;
    app.place(place);
    const bool over = ImGui::IsItemHovered();
    put(t.title, {at.x + t.px(2), at.y + t.px(1)}, shown || over ? t.ink : t.dim_ink, name);
    if (shown || over)
        ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + size.y - t.px(3)}, {at.x + size.x, at.y + size.y},
                                                  shown ? t.highlight : t.faint);
}

}  // namespace

void detail_tabs(App& app, const std::string& about) {
    const Theme& t = app.theme;
    tab(app, Detail::values, "Values", "tab-values");
    ImGui::SameLine(0, t.px(14));
    tab(app, Detail::counters, "Counters", "tab-counters");
    const ImVec2 left = ImGui::GetItemRectMax(), top = ImGui::GetItemRectMin();
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    const std::string text = fitted(t.small_text, about, right - left.x - t.px(12));
    put(t.small_text, {right - width_of(t.small_text, text), top.y + t.px(4)}, t.dim_ink, text);
}

void say_instead(const App& app, const std::string& sentence) {
    ImGui::PushStyleColor(ImGuiCol_Text, app.theme.dim_ink);
    ImGui::TextWrapped("%s", sentence.c_str());
    ImGui::PopStyleColor();
}

float width_of(const ImFont* font, const std::string& text) {
    return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.data(), text.data() + text.size()).x;
}

void put(const ImFont* font, ImVec2 at, ImU32 colour, const std::string& text) {
    ImGui::GetWindowDrawList()->AddText(font, font->FontSize, {std::floor(at.x), std::floor(at.y)}, colour, text.data(),
                                        text.data() + text.size());
}

std::string fitted(const ImFont* font, const std::string& text, float width) {
    if (width_of(font, text) <= width) return text;
    std::string cut = text;
    while (!cut.empty()) {
        // A character of UTF-8 goes as a whole.
        while (!cut.empty() && (cut.back() & 0xc0) == 0x80) cut.pop_back();
        if (!cut.empty()) cut.pop_back();
        if (width_of(font, cut + "…") <= width) return cut.empty() ? cut : cut + "…";
    }
    return cut;
}

}  // namespace tilescope::gui::detail
