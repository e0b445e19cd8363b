// Dear ImGui's items that carry text, in the current font and colours. What they say is noted; panels use these, and
// not Dear ImGui's own (tests/gui/drawn_text.py).
#pragma once

#include <imgui.h>

#include <string>

#include "gui/draw/notes.hpp"

namespace tilescope::gui {

float width_of(const std::string& text);

/// One line of text; with text_wrapped(), a text that wraps at the window's edge.
void text_line(const std::string& text);
void text_wrapped(const std::string& text);

/// In labels, what follows ## is not shown: it tells items of the same name apart.
bool push_button(const std::string& label, ImVec2 size = {0, 0});
/// Draws `brief` in place of `label`, a text too long for the button. The frame's Notes receive `label`.
bool push_button(const std::string& label, const std::string& brief, ImVec2 size);
bool tick_box(const std::string& label, bool& value);
bool choice(const std::string& label, bool chosen);
bool list_entry(const std::string& label, bool chosen);
bool begin_list(const std::string& id, const std::string& chosen, ImGuiComboFlags flags);
bool text_field(const char* id, char* text, std::size_t size);
bool number_field(const char* id, double& value);
/// An invisible button at the cursor, of at least 1 x 1 pixel. Returns whether it was clicked.
bool hit_area(const std::string& id, ImVec2 size);
/// A logarithmic slider without a number.
bool ratio_slider(const char* id, float& value, double least, double most);

/// Shows a tooltip, in place of an earlier one of this frame.
void tooltip(const std::string& text);

/// A tooltip of several items, until the end of its scope.
class Tooltip {
  public:
    explicit Tooltip(float wrap_at);
    ~Tooltip();
    Tooltip(const Tooltip&) = delete;
    Tooltip& operator=(const Tooltip&) = delete;

  private:
    NotedAs as_;
};

}  // namespace tilescope::gui
