// Boxes, text and arrows in the current ImGui window, in the theme's colours and type.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gui/draw/drawing.hpp"
#include "gui/draw/theme.hpp"

namespace tilescope::gui {

/// A rectangle on the screen.
struct Box {
    float x0 = 0, y0 = 0, x1 = 0, y1 = 0;

    float w() const { return x1 - x0; }
    float h() const { return y1 - y0; }
    ImVec2 min() const { return {x0, y0}; }
    ImVec2 max() const { return {x1, y1}; }
    ImVec2 centre() const { return {(x0 + x1) / 2, (y0 + y1) / 2}; }
    bool contains(ImVec2 p) const { return p.x >= x0 && p.x < x1 && p.y >= y0 && p.y < y1; }
    Box grown(float by) const { return {x0 - by, y0 - by, x1 + by, y1 + by}; }
    Box moved(float dx, float dy) const { return {x0 + dx, y0 + dy, x1 + dx, y1 + dy}; }
    /// Cuts the upper part off, `height` high, and returns it.
    Box cut_top(float height) {
        const Box top = {x0, y0, x1, y0 + height};
        y0 += height;
        return top;
    }
};
Box mixed(const Box& a, const Box& b, float share_of_b);

/// Where text goes in its box.
enum class Align : std::uint8_t { left, centre, right };

class Canvas {
  public:
    explicit Canvas(const Theme& theme);

    const Theme& theme() const { return *theme_; }
    float px(float at_scale_1) const { return theme_->px(at_scale_1); }

    void fill(const Box& b, ImU32 colour, float rounding = 0) const;
    /// Cells side by side: cell k reaches from edges[k] to `gap` before edges[k + 1].
    void row(const float* edges, float top, float bottom, float gap, std::span<const ImU32> colours) const;
    void outline(const Box& b, ImU32 colour, float thickness = 1, float rounding = 0) const;
    void dashed(const Box& b, ImU32 colour) const;
    void dashed(ImVec2 from, ImVec2 to, ImU32 colour) const;
    void line(ImVec2 from, ImVec2 to, ImU32 colour, float thickness = 1) const;
    /// A line in strokes of length `stroke`, with gaps between them.
    void strokes(ImVec2 from, ImVec2 to, ImU32 colour, float stroke, float gap, float thickness) const;
    void triangle(ImVec2 a, ImVec2 b, ImVec2 c, ImU32 colour) const {
        const ImVec2 corners[] = {a, b, c};
        polygon(corners, colour);
    }
    /// The polygon has to be convex.
    void polygon(std::span<const ImVec2> corners, ImU32 colour) const;
    void polygon_outline(std::span<const ImVec2> corners, ImU32 colour, float thickness) const;
    void circle(ImVec2 centre, float radius, ImU32 colour) const;
    void circle_outline(ImVec2 centre, float radius, ImU32 colour, float thickness) const;
    /// What `draw` draws is seen in this box only.
    template <class F>
    void within(const Box& b, F&& draw) const {
        draw_->PushClipRect(b.min(), b.max(), true);
        draw();
        draw_->PopClipRect();
    }
    /// Fills the box with lines that rise to the right. Neighbouring lines are `spacing` apart in x.
    void hatch(const Box& b, ImU32 colour, float spacing) const;

    static float width(const ImFont* font, std::string_view text);
    static float height(const ImFont* font) { return font->FontSize; }
    static ImVec2 size(const ImFont* font, std::string_view text) { return {width(font, text), height(font)}; }

    /// Draws `text` with its top left corner at `at`. Returns its width.
    float text(ImFont* font, ImVec2 at, ImU32 colour, std::string_view text) const;
    /// Draws `shown`, a shorter form of `whole`. The frame's Notes receive `whole`.
    float text(ImFont* font, ImVec2 at, ImU32 colour, std::string_view shown, std::string_view whole) const;
    /// Draws `text` at half the height of the box, shortened with … where it does not fit. Returns the x at its end.
    float text_in(ImFont* font, const Box& b, ImU32 colour, const std::string& text, Align align = Align::left) const;
    /// The same for the first of `texts` that fits, or else for the last one. The frame's Notes receive the first one.
    float text_in(ImFont* font, const Box& b, ImU32 colour, const std::vector<std::string>& texts,
                  Align align = Align::left) const;
    /// The same on a patch in the colour `behind`, so that lines can pass below the text.
    void text_on_patch(ImFont* font, const Box& b, ImU32 colour, ImU32 behind, const std::vector<std::string>& texts,
                       Align align = Align::left) const;
    /// Draws a text in at most `most` lines below each other; returns how many. The last one ends in … where the text
    /// has more lines.
    int paragraph(ImFont* font, ImVec2 at, ImU32 colour, std::string_view text, float width, int most) const;

    /// The same of a text whose pieces have colours of their own.
    struct Piece {
        std::string text;
        ImU32 colour;
    };
    int paragraph(ImFont* font, ImVec2 at, const std::vector<Piece>& pieces, float width, int most) const;

    /// Whether a text has room in one line.
    static bool fits(const ImFont* font, std::string_view text, float width);
    static const std::string& that_fits(const ImFont* font, float width, const std::vector<std::string>& texts);
    static std::string shortened(const ImFont* font, const std::string& text, float width);
    /// `text` in lines of at most `width`, broken at spaces but not within "(64 × 1)" or "524 k FLOPs".
    static std::vector<std::string_view> broken(const ImFont* font, std::string_view text, float width);

    /// A curve that leaves `from` upwards, arrives at `to` from below and goes on straight through `then`.
    void wire(ImVec2 from, ImVec2 to, std::span<const ImVec2> then, ImU32 colour) const;
    void arrow_head(ImVec2 tip, bool down, ImU32 colour) const;

  private:
    float draw_in(ImFont* font, const Box& b, ImU32 colour, const std::string& shown, const std::string& whole,
                  Align align) const;
    void write(ImFont* font, ImVec2 at, ImU32 colour, std::string_view text) const;

    /// The receiver of all that is drawn, clipped as ImGui clips now; nullptr unless a picture of vectors is taken.
    Drawing* told() const;

    const Theme* theme_;
    ImDrawList* draw_;
    Drawing* drawing_;
};

/// Whether the mouse is in this box of the current window, and no popup or other window is over it.
bool hovered(const Box& b);

}  // namespace tilescope::gui
