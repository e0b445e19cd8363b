// Names and measures of fonts, for pictures whose text stays text and that do not contain the font's file.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

namespace tilescope::gui {

struct Typeface {
    std::string family;
    int weight = 400;
    float em = 0;        ///< the font's size in pixels; ImGui's FontSize is the height of a line
    float baseline = 0;  ///< pixels below the top of a line
};

/// Read from the tables in the font's file. What a broken font does not say is guessed.
Typeface typeface_of(const ImFont* font);

/// Whether a font has outlines that Dear ImGui reads: of TrueType (glyf) or of OpenType (CFF, and not CFF2).
bool has_outlines(std::string_view file, int number);

/// The height of a font's line in ems; 1 where the file does not say it. `number`: of the font in its file.
float line_of_em(std::string_view file, int number = 0);

}  // namespace tilescope::gui
