// What a font is called where its file is not at hand, as in a picture whose text stays text.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

namespace tilescope::gui {

struct Typeface {
    std::string family;
    int weight = 400;
    float em = 0;  ///< its size as programs that set type count it; ImGui counts from the top of a line to its foot
    float baseline = 0;  ///< below the top of a line
};

/// Read from the font's own tables. What a broken font does not say is guessed.
Typeface typeface_of(const ImFont* font);

/// Whether a font has outlines that Dear ImGui reads: of TrueType (glyf) or of OpenType (CFF, and not CFF2).
bool has_outlines(std::string_view file, int number);

/// How high a line of a font is, in its ems; 1 of a file that does not say. `number`: of the font in its file.
float line_of_em(std::string_view file, int number = 0);

}  // namespace tilescope::gui
