#include "gui/detail/tile_image.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gui/draw/canvas.hpp"
#include "gui/draw/whole.hpp"
#include "show/words/value_text.hpp"

namespace tilescope::gui::detail {

using show::value_text, show::with_decimals;
namespace {

constexpr Index most_cells = 96;  // in a direction

/// Called for every number of a picture in every frame. In the page, std::isfinite() would not be inlined.
bool is_finite(float x) { return std::abs(x) <= std::numeric_limits<float>::max(); }

/// How the values are shared out among cells: every cell has `row_step` x `col_step` of them, at the edges fewer.
struct Grid {
    Index row_step, col_step, rows, cols;
};

Grid grid_for(const Theme& t, const Picture& p) {
    const auto step = [&](Index n, float pixels) { return ceil_div(n, whole(pixels / t.px(1.5f), 1, most_cells)); };
    const Index down = step(p.rows, p.size.y), across = step(p.cols, p.size.x);
    return {down, across, ceil_div(p.rows, down), ceil_div(p.cols, across)};
}

Cell cell_at(const Picture& p, const Grid& g, Index row, Index col) {
    const Index r0 = row * g.row_step, c0 = col * g.col_step;
    Cell cell{{r0, std::min(g.row_step, p.rows - r0)}, {c0, std::min(g.col_step, p.cols - c0)}, 0};
    float sum = 0;
    Index n = 0;
    for (Index r = r0; r < cell.rows.end(); ++r)
        for (Index c = c0; c < cell.cols.end(); ++c) {
            const float v = p.values[static_cast<std::size_t>(r * p.cols + c)];
            if (v == -std::numeric_limits<float>::infinity()) continue;
            sum += v, ++n;
        }
    cell.value = n > 0 ? sum / static_cast<float>(n) : -std::numeric_limits<float>::infinity();
    return cell;
}

/// Where row (or column) k of n rows of cells begins.
float edge(float from, float extent, Index k, Index n) {
    return std::round(from + extent * static_cast<float>(k) / static_cast<float>(n));
}

/// Decimals that the numbers in cells of this width can have: three significant digits of the largest, or two; -1 where
/// there is no room for numbers.
int decimals_for(const Theme& t, const ColourScale& s, float width, float height) {
    if (width < t.px(34) || height < t.small_text->FontSize) return -1;
    if (!s.any) return 0;
    const int digits = s.limit() > 0 ? static_cast<int>(whole(std::floor(std::log10(s.limit())), -99, 99)) : 0;
    for (const int significant : {3, 2}) {
        const int decimals = std::clamp(significant - 1 - digits, 0, 4);
        const float widest = std::max(Canvas::width(t.small_text, with_decimals(s.low, decimals)),
                                      Canvas::width(t.small_text, with_decimals(s.high, decimals)));
        if (widest <= width - t.px(4)) return decimals;
    }
    return -1;
}

void draw_cells(const Theme& t, const Palette& palette, const Picture& p, const Grid& g) {
    const Canvas canvas(t);
    const float cell_width = p.size.x / static_cast<float>(g.cols), cell_height = p.size.y / static_cast<float>(g.rows);
    const bool single = g.row_step == 1 && g.col_step == 1;
    const int decimals = single ? decimals_for(t, p.scale, cell_width, cell_height) : -1;
    const float gap = std::min(cell_width, cell_height) >= t.px(8) ? 1.f : 0.f;
    const float limit = p.scale.limit();
    std::array<float, most_cells + 1> edges;
    std::array<float, most_cells> values;
    std::array<ImU32, most_cells> colours;
    const auto cols = static_cast<std::size_t>(g.cols);
    for (std::size_t c = 0; c <= cols; ++c) edges[c] = edge(p.at.x, p.size.x, static_cast<Index>(c), g.cols);
    for (Index r = 0; r < g.rows; ++r) {
        const float y0 = edge(p.at.y, p.size.y, r, g.rows), y1 = edge(p.at.y, p.size.y, r + 1, g.rows);
        for (std::size_t c = 0; c < cols; ++c) {
            values[c] = single ? p.values[static_cast<std::size_t>(r) * cols + c]
                               : cell_at(p, g, r, static_cast<Index>(c)).value;
            colours[c] = palette.at(values[c], limit);
        }
        canvas.row(edges.data(), y0, y1, gap, {colours.data(), cols});
        for (std::size_t c = 0; decimals >= 0 && c < cols; ++c) {
            const std::string text = with_decimals(values[c], decimals);
            canvas.text_in(t.small_text, {edges[c], y0 - gap, edges[c + 1], y1 - gap},
                           is_finite(values[c]) ? Theme::ink_on(colours[c]) : t.ink, text, Align::centre);
        }
    }
}

}  // namespace

ColourScale scale_of(TileData values) {
    ColourScale s;
    float low = std::numeric_limits<float>::infinity(), high = -low;
    for (const float v : values) {
        if (is_finite(v))
            low = std::min(low, v), high = std::max(high, v);
        else
            (v < 0 ? s.minus_infinity : s.broken) = true;
    }
    s.any = low <= high;
    if (s.any) s.low = low, s.high = high;
    return s;
}

ColourScale common_scale(const ColourScale& a, const ColourScale& b) {
    if (!a.any || (b.any && a.is_signed() != b.is_signed())) return b;
    if (!b.any) return {a.low, a.high, true, b.minus_infinity, b.broken};
    return {std::min(a.low, b.low), std::max(a.high, b.high), true, b.minus_infinity, b.broken};
}

Palette::Palette(const Theme& t)
    : hidden_(t.light ? Theme::mixed(t.panel, t.ink, 0.3f) : t.background), broken_(t.bad) {
    const ImU32 neutral = Theme::mixed(t.panel, t.ink, t.light ? 0.06f : 0.12f), below = t.hue(Meaning::query),
                above = t.hue(Meaning::output);
    for (int k = 0; k <= steps; ++k) {
        // Most values are far below the largest: without this they would all look alike.
        const float share = std::pow(static_cast<float>(k) / steps, 0.7f);
        colours_[static_cast<std::size_t>(steps - k)] = Theme::mixed(neutral, below, share);
        colours_[static_cast<std::size_t>(steps + k)] = Theme::mixed(neutral, above, share);
    }
}

ImU32 Palette::at(float value, float limit) const {
    if (!is_finite(value)) return value < 0 ? hidden_ : broken_;
    const float share = limit > 0 ? std::clamp(value / limit, -1.f, 1.f) : 0;
    return colours_[static_cast<std::size_t>((share + 1) * steps + 0.5f)];
}

std::optional<Cell> draw(const Theme& theme, const Palette& palette, const Picture& p) {
    if (p.values.empty() || p.size.x < 1 || p.size.y < 1) return std::nullopt;
    const Grid g = grid_for(theme, p);
    draw_cells(theme, palette, p, g);
    const ImVec2 end = {p.at.x + p.size.x, p.at.y + p.size.y}, mouse = ImGui::GetMousePos();
    if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(p.at, end)) return std::nullopt;
    const auto under = [](float at, float from, float extent, Index n) {
        return whole((at - from) / extent * static_cast<float>(n), 0, n - 1);
    };
    return cell_at(p, g, under(mouse.y, p.at.y, p.size.y, g.rows), under(mouse.x, p.at.x, p.size.x, g.cols));
}

void draw_scale(const Theme& t, const Palette& palette, const ColourScale& s, ImVec2 at, float width) {
    const Canvas c(t);
    // Values that are on no scale (−∞, say) have squares of their own, right of the scale.
    const auto apart = [&](bool there, float value, const char* name) {
        const float square = t.px(4), room = Canvas::width(t.small_text, name) + 3 * square + t.px(10);
        if (!s.any || !there || width < t.px(60) + room) return;
        width -= room;
        const float x = at.x + width + t.px(10), y = at.y + t.small_text->FontSize / 2 + t.px(1);
        c.fill({x, y - square, x + 2 * square, y + square}, palette.at(value, 1));
        c.outline({x, y - square, x + 2 * square, y + square}, t.dim_ink);
        c.text(t.small_text, {x + 3 * square, at.y}, t.dim_ink, name);
    };
    apart(s.minus_infinity, -INFINITY, "−∞");
    apart(s.broken, INFINITY, "NaN, ∞");
    const std::string low = s.any ? value_text(s.low) : "", high = s.any              ? value_text(s.high)
                                                                   : s.minus_infinity ? "−∞"
                                                                                      : "";
    const float left = at.x + Canvas::width(t.small_text, low) + t.px(5);
    const float right = at.x + width - Canvas::width(t.small_text, high) - t.px(5);
    if (right - left < t.px(12)) {
        c.text_in(t.small_text, {at.x, at.y, at.x + width, at.y + t.small_text->FontSize}, t.dim_ink,
                  s.any ? low + " … " + high : high);
        return;
    }
    const float middle = at.y + t.small_text->FontSize / 2 + t.px(1);
    constexpr int parts = 24;
    for (int k = 0; s.any && k < parts; ++k) {
        const float value = std::lerp(s.low, s.high, (static_cast<float>(k) + 0.5f) / parts);
        c.fill({edge(left, right - left, k, parts), middle - t.px(3), edge(left, right - left, k + 1, parts),
                middle + t.px(3)},
               palette.at(value, s.limit()));
    }
    c.text(t.small_text, at, t.dim_ink, low);
    c.text(t.small_text, {right + t.px(5), at.y}, t.dim_ink, high);
}

}  // namespace tilescope::gui::detail
