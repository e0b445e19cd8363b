// The rows that the controls are made of. They look and report; what a change means is the caller's business.
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

/// The border of items that would be invisible while they are off.
ImU32 rim(const Theme& theme);

/// A tab: one of several names that share a place on the screen. The one that is shown is underlined. Returns whether
/// it was chosen.
bool tab(Screen& screen, const char* place, const std::string& name, bool shown);

/// A row that begins with a small label; leaves the cursor where its field starts, as wide as the rest of the row.
void begin_field(const Screen& screen, const std::string& label);

/// A list to choose one of: `draw` submits the entries while it is open.
template <class F>
void combo(Screen& screen, const char* place, const std::string& preview, const std::string& explanation, F&& draw) {
    if (begin_list(std::string("##") + place, preview, ImGuiComboFlags_HeightLargest)) {
        draw();
        ImGui::EndCombo();
    }
    screen.place(place);
    tip(screen, explanation);
}

/// An entry of an open list.
bool entry(Screen& screen, const std::string& place, const std::string& text, bool chosen,
           const std::string& explanation);
/// A button as wide as one of `columns` in a row, the one in column `column` (from 0 on). Without room it shows its
/// first word alone.
bool button(Screen& screen, const char* place, const std::string& label, int column, int columns,
            const std::string& explanation);
bool checkbox(Screen& screen, const char* place, const std::string& text, bool& value, const std::string& explanation);

/// A number that is typed or dragged: a label, a field, a slider, and a × that takes the flag back.
struct NumberRow {
    const char* flag;  ///< name of the place; "-input" and "-reset" are its field and its ×
    std::string label;
    double value;        ///< shown
    double least, most;  ///< of the slider; typed numbers may lie outside
    double grain;        ///< the slider stops at multiples of it; 0: at powers of two
    bool can_reset;      ///< has a ×: the number was given and need not be
    std::string explanation;
};
struct NumberEdit {
    std::optional<double> value;
    bool reset = false;
};
NumberEdit number_row(Screen& screen, const NumberRow& row);

}  // namespace tilescope::gui
