// A tile as a picture: a coloured cell for every value, with its number where there is room.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "core/machine/event.hpp"
#include "gui/draw/theme.hpp"

namespace tilescope::gui::detail {

/// Width of a cell in which a number can be read.
inline constexpr float number_cell = 39;

/// What the colours of a picture stand for: zero is neutral, the largest magnitude has the full colour.
struct ColourScale {
    float low = 0, high = 0;      ///< the least and the greatest finite value
    bool any = false;             ///< there are finite values
    bool minus_infinity = false;  ///< some values are -inf: hidden by the mask, or a maximum of no values
    bool broken = false;          ///< some values are NaN or +inf

    float limit() const { return std::max(-low, high); }
    bool is_signed() const { return low < 0; }
    /// Whether all values are the same, so that a picture shows nothing.
    bool flat() const { return !any || (low == high && !minus_infinity); }
};
ColourScale scale_of(TileData values);
/// One scale for two pictures that are to be compared. Where the two differ in kind, as logits and probabilities do,
/// it is that of b.
ColourScale common_scale(const ColourScale& a, const ColourScale& b);

/// Blue below zero, orange above.
class Palette {
  public:
    explicit Palette(const Theme& theme);
    ImU32 at(float value, float limit) const;

  private:
    static constexpr int steps = 128;
    std::array<ImU32, 2 * steps + 1> colours_;
    ImU32 hidden_, broken_;
};

struct Picture {
    TileData values;  ///< row-major
    Index rows, cols;
    ImVec2 at, size;
    ColourScale scale;
};

/// The values that share the cell under the mouse.
struct Cell {
    Span rows, cols;
    float value;  ///< their average, without those that are -inf
};

/// Draws the picture; returns the cell under the mouse.
std::optional<Cell> draw(const Theme& theme, const Palette& palette, const Picture& picture);
/// The colours from left to right, with the ends in numbers.
void draw_scale(const Theme& theme, const Palette& palette, const ColourScale& scale, ImVec2 at, float width);

}  // namespace tilescope::gui::detail
