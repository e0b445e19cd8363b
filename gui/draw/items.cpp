#include "gui/draw/items.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "core/text/words.hpp"
#include "gui/draw/canvas.hpp"

namespace tilescope::gui {
namespace {

constexpr const char* tooltips = "tooltip";  // the notes list tooltips as a panel of their own

/// Notes the visible part of the label of the item that was submitted last.
void note_item(const std::string& label) { note(label.substr(0, label.find("##")), ImGui::GetItemRectMin()); }

bool noted(bool answer, const std::string& label) {
    note_item(label);
    return answer;
}

}  // namespace

float width_of(const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x; }

void text_line(const std::string& text) {
    const std::string_view shown = readable(text);
    ImGui::TextUnformatted(shown.data(), shown.data() + shown.size());
    note(text, ImGui::GetItemRectMin());
}

void text_wrapped(const std::string& text) {
    // Dear ImGui breaks lines at spaces, and within words that are too long.
    std::string lines;
    for (const std::string_view line : Canvas::broken(ImGui::GetFont(), text, ImGui::GetContentRegionAvail().x))
        lines.append(lines.empty() ? "" : "\n").append(line);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(lines.data(), lines.data() + lines.size());
    ImGui::PopTextWrapPos();
    note(text, ImGui::GetItemRectMin());
}

bool push_button(const std::string& label, ImVec2 size) { return noted(ImGui::Button(label.c_str(), size), label); }

bool push_button(const std::string& label, const std::string& brief, ImVec2 size) {
    return noted(ImGui::Button(brief.c_str(), size), label);
}

bool tick_box(const std::string& label, bool& value) {
    const bool changed = ImGui::Checkbox(label.c_str(), &value);
    return noted(changed, (value ? "[x] " : "[ ] ") + label);
}

bool choice(const std::string& label, bool chosen) {
    return noted(ImGui::RadioButton(label.c_str(), chosen), (chosen ? "(x) " : "( ) ") + label);
}

bool list_entry(const std::string& label, bool chosen) {
    return noted(ImGui::Selectable(label.c_str(), chosen), label);
}

bool begin_list(const std::string& id, const std::string& chosen, ImGuiComboFlags flags) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string shown = text::shown(chosen);  // the name may come from a file, with any characters
    const bool open = ImGui::BeginCombo(id.c_str(), shown.c_str(), flags);
    note(shown, at);
    return open;
}

bool text_field(const char* id, char* text, std::size_t size) {
    const bool entered = ImGui::InputText(id, text, size, ImGuiInputTextFlags_EnterReturnsTrue);
    return noted(entered, text);
}

bool number_field(const char* id, double& value) {
    constexpr const char* format = "%.13g";
    const bool changed = ImGui::InputDouble(id, &value, 0, 0, format, ImGuiInputTextFlags_AutoSelectAll);
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return noted(changed, text);
}

bool hit_area(const std::string& id, ImVec2 size) {
    return ImGui::InvisibleButton(id.c_str(), {std::max(1.f, size.x), std::max(1.f, size.y)});
}

bool ratio_slider(const char* id, float& value, double least, double most) {
    return ImGui::SliderFloat(id, &value, static_cast<float>(least), static_cast<float>(most), "",
                              ImGuiSliderFlags_NoInput | ImGuiSliderFlags_Logarithmic);
}

void tooltip(const std::string& text) {
    if (Notes* n = notes()) n->clear(tooltips);
    const std::string_view shown = readable(text);
    ImGui::SetTooltip("%.*s", static_cast<int>(shown.size()), shown.data());
    const NotedAs as(tooltips);
    note(text, ImGui::GetMousePos());
}

Tooltip::Tooltip(float wrap_at) : as_(tooltips) {
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(wrap_at);
}

Tooltip::~Tooltip() {
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

}  // namespace tilescope::gui
