#include "gui/draw/widgets.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include "core/text/message.hpp"
#include "gui/draw/canvas.hpp"
#include "gui/draw/whole.hpp"

namespace tilescope::gui {
using text::message;
namespace {

float right_edge() { return ImGui::GetWindowContentRegionMax().x; }

/// ImGui keeps ints, floats and pointers, and none of them need be as wide as a double.
void keep(ImGuiStorage& storage, double value) {
    std::array<int, 2> halves{};
    static_assert(sizeof halves == sizeof value);
    std::memcpy(halves.data(), &value, sizeof value);
    storage.SetInt(ImGui::GetID("first-half"), halves[0]);
    storage.SetInt(ImGui::GetID("second-half"), halves[1]);
}

double kept(const ImGuiStorage& storage) {
    const std::array<int, 2> halves = {storage.GetInt(ImGui::GetID("first-half")),
                                       storage.GetInt(ImGui::GetID("second-half"))};
    double value = 0;
    std::memcpy(&value, halves.data(), sizeof value);
    return value;
}

/// A number to type, accepted with Enter or when the field loses focus. It is kept between frames, because a click on
/// another control deactivates the field before its number can be read.
std::optional<double> typed_number(double value) {
    ImGuiStorage& storage = *ImGui::GetStateStorage();
    const bool changed = number_field("##field", value);
    if (changed || ImGui::IsItemActive()) keep(storage, value);
    if (!ImGui::IsItemDeactivatedAfterEdit()) return std::nullopt;
    if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape))) return std::nullopt;
    const double typed = kept(storage);
    return std::isnan(typed) ? std::nullopt : std::optional(typed);
}

/// Without a grain, a slider over powers of two; else a slider over ratios that stops at multiples of the grain.
std::optional<double> number_slider(const NumberRow& row) {
    if (row.grain == 0) {
        const auto exponent = [](double x) { return static_cast<int>(whole(std::round(std::log2(x)), 0, 40)); };
        int e = exponent(row.value);
        if (ImGui::SliderInt("##slider", &e, exponent(row.least), exponent(row.most), "", ImGuiSliderFlags_NoInput))
            return std::exp2(e);
        return std::nullopt;
    }
    auto x = static_cast<float>(row.value);
    if (!ratio_slider("##slider", x, row.least, row.most)) return std::nullopt;
    const double stop = std::max(row.least, std::round(static_cast<double>(x) / row.grain) * row.grain);
    return stop == row.value ? std::nullopt : std::optional(stop);
}

}  // namespace

ImU32 rim(const Theme& theme) { return Theme::faded(theme.dim_ink, 0.6f); }

void heading(const Screen& screen, const std::string& text) {
    ImGui::Dummy({0, screen.theme.px(2)});
    ImGui::PushFont(screen.theme.small_text);
    ImGui::PushStyleColor(ImGuiCol_Text, screen.theme.dim_ink);
    text_line(text);
    ImGui::PopStyleColor();
    const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
    const float y = std::round((a.y + b.y) / 2), right = ImGui::GetWindowPos().x + right_edge();
    ImGui::GetWindowDrawList()->AddLine({b.x + screen.theme.px(6), y}, {right, y}, screen.theme.panel_border);
    ImGui::PopFont();
}

void remark(const Screen& screen, const std::string& text) {
    ImGui::PushFont(screen.theme.small_text);
    ImGui::PushStyleColor(ImGuiCol_Text, screen.theme.dim_ink);
    text_wrapped(text);
    ImGui::PopStyleColor();
    ImGui::PopFont();
}

void tip(const Screen& screen, const std::string& text) {
    if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) || ImGui::IsMouseDown(0)) return;
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {screen.theme.px(10), screen.theme.px(8)});
    {
        const Tooltip shown(screen.theme.px(340));
        ImGui::PushFont(screen.theme.small_text);
        text_line(text);
        ImGui::PopFont();
    }
    ImGui::PopStyleVar();
}

void begin_field(const Screen& screen, const std::string& label) {
    ImGui::PushFont(screen.theme.small_text);
    ImGui::AlignTextToFramePadding();
    text_line(label);
    ImGui::PopFont();
    ImGui::SameLine(screen.theme.px(62) + ImGui::GetStyle().WindowPadding.x);
    ImGui::SetNextItemWidth(-FLT_MIN);
}

bool entry(Screen& screen, const std::string& place, const std::string& text, bool chosen,
           const std::string& explanation) {
    const bool clicked = list_entry(text, chosen);
    screen.place(place);
    tip(screen, explanation);
    return clicked;
}

bool button(Screen& screen, const char* place, const std::string& label, int column, int columns,
            const std::string& explanation) {
    const float gap = ImGui::GetStyle().ItemSpacing.x, left = ImGui::GetStyle().WindowPadding.x;
    const float all = right_edge() - left, n = static_cast<float>(columns), k = static_cast<float>(column);
    const float width = std::floor((all - (n - 1) * gap) / n);
    if (column > 0) ImGui::SameLine(left + k * (width + gap));
    ImGui::PushFont(screen.theme.small_text);
    const bool whole = width_of(label) <= width - ImGui::GetStyle().FramePadding.x;
    const std::string brief = (whole ? label : label.substr(0, label.find(' '))) + "##" + place;
    const bool clicked = push_button(label, brief, {width, 0});
    ImGui::PopFont();
    screen.place(place);
    tip(screen, explanation);
    return clicked;
}

bool checkbox(Screen& screen, const char* place, const std::string& text, bool& value, const std::string& explanation) {
    ImGui::PushFont(screen.theme.small_text);
    ImGui::PushStyleColor(ImGuiCol_Border, rim(screen.theme));
    const bool changed = tick_box(text, value);
    ImGui::PopStyleColor();
    ImGui::PopFont();
    screen.place(place);
    tip(screen, explanation);
    return changed;
}

NumberEdit number_row(Screen& screen, const NumberRow& row) {
    const Theme& t = screen.theme;
    const std::string flag = row.flag;
    const float reset = t.px(16), field = t.px(50), gap = t.px(6);
    const bool one_line = ImGui::GetContentRegionAvail().x >= t.px(180);
    NumberEdit edit;
    ImGui::PushID(row.flag);
    begin_field(screen, row.label);
    ImGui::PushFont(t.small_text);
    if (!one_line) ImGui::SameLine(right_edge() - reset - gap - field);
    ImGui::SetNextItemWidth(field);
    edit.value = typed_number(row.value);
    screen.place(flag + "-input");
    tip(screen, row.explanation);

    const auto slider = [&](float width) {
        ImGui::SetNextItemWidth(width);
        if (const auto dragged = number_slider(row)) edit.value = dragged;
        screen.place(flag);
        tip(screen, row.explanation);
    };
    ImGui::SameLine(0, gap);
    if (one_line) slider(right_edge() - ImGui::GetCursorPosX() - reset - gap);
    ImGui::SameLine(right_edge() - reset);
    if (row.can_reset) {
        ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, ImGui::GetStyle().FramePadding.y});
        edit.reset = push_button("×", {reset, 0});
        ImGui::PopStyleVar();
        screen.place(flag + "-reset");
        tip(screen, message("widgets.about_take_back"));
    } else {
        ImGui::Dummy({reset, ImGui::GetFrameHeight()});
    }
    if (!one_line) slider(-FLT_MIN);
    ImGui::PopFont();
    ImGui::PopID();
    return edit;
}

bool tab(Screen& screen, const char* place, const std::string& name, bool shown) {
    const Theme& t = screen.theme;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size = {Canvas::width(t.title, name) + t.px(4), t.title->FontSize + t.px(7)};
    const bool chosen = hit_area(place, size);
    screen.place(place);
    const bool over = ImGui::IsItemHovered();
    const Canvas c(t);
    c.text(t.title, {at.x + t.px(2), at.y + t.px(1)}, shown || over ? t.ink : t.dim_ink, name);
    if (shown || over)
        c.fill({at.x, at.y + size.y - t.px(3), at.x + size.x, at.y + size.y}, shown ? t.highlight : t.faint);
    return chosen;
}

}  // namespace tilescope::gui
