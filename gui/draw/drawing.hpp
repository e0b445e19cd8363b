// What a frame draws, as shapes and words and not as triangles and pixels: for pictures in papers, which are printed at
// any size, edited and searched.
#pragma once

#include <imgui.h>

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "gui/draw/typeface.hpp"

namespace tilescope::gui {

/// Receives from Canvas, shape by shape and in order, what ImGui draws, and writes it as SVG. Lines and outlines are
/// moved to the middle of a pixel, as by ImGui's calls of the same names.
class Drawing {
  public:
    /// Until the next call, what is drawn is seen only in this rectangle.
    void clip(ImVec2 min, ImVec2 max) { clip_ = {min.x, min.y, max.x, max.y}; }

    void fill(ImVec2 min, ImVec2 max, ImU32 colour, float rounding);
    void outline(ImVec2 min, ImVec2 max, ImU32 colour, float thickness, float rounding);
    /// A line; where `stroke` is not 0, in strokes of that length with gaps between them.
    void line(ImVec2 from, ImVec2 to, ImU32 colour, float thickness, float stroke = 0, float gap = 0);
    void polygon(std::span<const ImVec2> corners, ImU32 colour);
    void polygon_outline(std::span<const ImVec2> corners, ImU32 colour, float thickness);
    void circle(ImVec2 centre, float radius, ImU32 colour);
    void circle_outline(ImVec2 centre, float radius, ImU32 colour, float thickness);
    /// Lines that rise to the right, `spacing` apart, cut at the edges of a rectangle.
    void hatch(ImVec2 min, ImVec2 max, ImU32 colour, float spacing, float thickness);
    /// A Bézier curve with the control points `by` and `past`, then straight lines through `then`.
    void curve(ImVec2 from, ImVec2 by, ImVec2 past, ImVec2 to, std::span<const ImVec2> then, ImU32 colour,
               float thickness);
    /// `at`: the top left corner of its first letter.
    void text(const ImFont* font, ImVec2 at, ImU32 colour, std::string_view text);

    /// The drawing as SVG, on a page of the size `page` from the upper left corner of the screen on. `behind`: the
    /// colour of the page; without opacity the page has no background.
    std::string svg(ImVec2 page, ImU32 behind, std::string_view title, std::string_view description) const;

  private:
    struct Extent {
        float x0, y0, x1, y1;
    };
    /// Adds an element, clipped where it reaches beyond the clip. Leaves it out where all of it is outside.
    void add(Extent of_it, const std::string& element);
    const Typeface& face(const ImFont* font);

    Extent clip_ = {-1e9f, -1e9f, 1e9f, 1e9f};
    std::string body_, clips_, open_;  // open_: the clip of the group that body_ ends in
    std::map<std::string, int> known_clips_;
    std::map<const ImFont*, Typeface> faces_;
};

}  // namespace tilescope::gui
