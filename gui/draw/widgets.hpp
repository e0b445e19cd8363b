// The rows that the controls are made of. They report what the user did; the caller decides what a change means.
#pragma once

#include <optional>
#include <string>

#include "gui/app.hpp"
#include "gui/draw/items.hpp"

namespace tilescope::gui {

/// A small heading over a group of controls.
void heading(const Screen& screen, const std::string& text);
/// Small grey text that wraps.
void remark(const Screen& screen, const std::string& text);
/// Explains the item that was submitted last while the mouse rests on it.
void tip(const Screen& screen, const std::string& text);

/// The colour of the border of items that would be invisible while they are off.
ImU32 rim(const Theme& theme);

/// A tab: one of several names that share a place on the screen. The one that is shown is underlined. Returns whether
/// it was chosen.
bool tab(Screen& screen, const char* place, const std::string& name, bool shown);

/// Begins a row with a small label. The next item, its field, takes the rest of the row.
void begin_field(const Screen& screen, const std::string& label);

/// A list to choose one of: `draw` submits the entries while it is open. Its arrow goes where the choice needs the
/// room.
template <class F>
void combo(Screen& screen, const char* place, const std::string& preview, const std::string& explanation, F&& draw) {
    const float needed = width_of(preview) + 2 * ImGui::GetStyle().FramePadding.x + ImGui::GetFrameHeight();
    const bool roomy = needed <= ImGui::CalcItemWidth() || width_of(preview) > ImGui::CalcItemWidth();
    const ImGuiComboFlags flags = ImGuiComboFlags_HeightLargest | (roomy ? 0 : ImGuiComboFlags_NoArrowButton);
    if (begin_list(std::string("##") + place, preview, flags)) {
        draw();
        ImGui::EndCombo();
    }
    screen.place(place);
    tip(screen, explanation);
}

/// An entry of an open list.
bool entry(Screen& screen, const std::string& place, const std::string& text, bool chosen,
           const std::string& explanation);
/// A button in column `column` (from 0 on) of a row of `columns` equal ones. Where the label has no room, the button
/// shows the label's first word.
bool button(Screen& screen, const char* place, const std::string& label, int column, int columns,
            const std::string& explanation);
bool checkbox(Screen& screen, const char* place, const std::string& text, bool& value, const std::string& explanation);

/// A number that is typed or dragged: a label, a field, a slider, and a × that takes the flag back.
struct NumberRow {
    const char* flag;  ///< places: FLAG is the slider, FLAG-input the field, FLAG-reset the ×
    std::string label;
    double value;        ///< shown
    double least, most;  ///< of the slider; typed numbers may lie outside
    double grain;        ///< the slider stops at multiples of it; 0: at powers of two
    bool can_reset;      ///< has a ×: the user gave the number, and the flag may be left out
    std::string explanation;
};
struct NumberEdit {
    std::optional<double> value;
    bool reset = false;
};
NumberEdit number_row(Screen& screen, const NumberRow& row);

}  // namespace tilescope::gui
