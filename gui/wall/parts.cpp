// Keys that are cut into parts: bands of the matrix, the partial result of each part for a row of tiles, and the sum
// of these results.
#include <algorithm>
#include <cmath>

#include "gui/draw/whole.hpp"
#include "gui/wall/figure.hpp"
#include "show/stage/parts_text.hpp"

namespace tilescope::gui::wall {
namespace {

/// The tray of a partial result: below the tiles of its rows, as wide as the keys of its part.
Box tray_of(const WallFigure& f, const Partial& p) {
    const Span keys = f.wall.parts().keys(p.part);
    const float y = f.y_of(p.rows.begin / f.wall.tile_rows() * f.wall.tile_rows()) + f.tile_h();
    return {f.x_of(keys.begin), y, f.x_of(keys.end()), y + f.tray};
}

/// Cell k of the n cells of a tray. The way to the sum runs below the cells.
Box cell_of(const WallFigure& f, const Box& tray, std::size_t k, std::size_t n) {
    const float gap = f.px(2), room = tray.w() - 2 * gap;
    const float width = std::min(room / static_cast<float>(n), f.px(72));
    const float x = tray.centre().x + (static_cast<float>(k) - static_cast<float>(n) / 2) * width;
    return {x + gap / 2, tray.y0 + gap, x + width - gap / 2, tray.y1 - f.px(6)};
}

void draw_cell(const WallFigure& f, const PartCell& cell, const Box& b) {
    const Theme& t = f.theme();
    const ImU32 hue = t.hue(cell.meaning), fill = Theme::mixed(t.panel, hue, cell.on_chip ? 0.88f : 0.28f);
    const float round = cell.on_chip ? std::min(f.px(7), b.w() / 3) : 0;
    f.canvas.fill(b, fill, round);
    if (b.w() >= f.px(5))
        f.canvas.outline(b, cell.now ? t.now : Theme::faded(hue, 0.6f), cell.now ? f.px(2) : 1, round);
    const ImU32 ink = cell.on_chip ? Theme::ink_on(fill) : Theme::mixed(hue, t.ink, 0.6f);
    const auto fits = [&](const std::string& s) { return Canvas::width(t.small_text, s) <= b.w() - f.px(3); };
    const float line = Canvas::height(t.small_text), y = b.centre().y;
    if (b.h() < 2 * line || cell.value.empty() || !fits(cell.value) || !fits(cell.name)) {
        // Where no text fits, none is written: only a part of a letter would be left.
        const std::vector<std::string> said = cell_texts(cell);
        const auto at = std::find_if(said.begin(), said.end(), fits);
        if (b.h() >= line && at != said.end())
            f.canvas.text_in(t.small_text, {b.x0, y - line / 2, b.x1, y + line / 2}, ink, *at, Align::centre);
        return;
    }
    f.canvas.text_in(t.small_text, {b.x0, y - line, b.x1, y}, ink, cell.name, Align::centre);
    f.canvas.text_in(t.small_text, {b.x0, y, b.x1, y + line}, ink, cell.value, Align::centre);
}

/// The way from a partial result that was added up to its tile of O.
void draw_way(const WallFigure& f, const Partial& p, const Box& from, bool now) {
    const auto& edges = f.wall.edges();
    if (std::none_of(edges.begin(), edges.end(), [](const WallEdge& e) { return e.side == WallEdge::Side::right; }))
        return;
    const Theme& t = f.theme();
    const Box tray = tray_of(f, p);
    const ImU32 colour = now ? t.now : t.hue(Meaning::output);
    const float x = f.seen.x1 + f.gap + f.statistics + f.strip / 2, y = tray.y1 - f.px(3), tip = f.px(5);
    const float thick = now ? f.px(2.5f) : f.px(1.5f), end = f.y_end(p.rows.end()) + f.px(2);
    f.canvas.line({from.centre().x, from.y1}, {from.centre().x, y}, colour, thick);
    f.canvas.line({from.centre().x, y}, {x, y}, colour, thick);
    f.canvas.line({x, y}, {x, end + tip}, colour, thick);
    f.canvas.triangle({x - tip, end + tip}, {x, end}, {x + tip, end + tip}, colour);
}

void draw_tray(const WallFigure& f, const Partial& p) {
    const Box tray = tray_of(f, p);
    if (!f.sees(tray) || tray.w() < f.px(2)) return;
    const std::vector<PartCell> cells = part_cells(f.run, f.wall.parts(), p, p.rows.begin);
    if (cells.empty()) f.canvas.dashed(cell_of(f, tray, 0, 1), f.theme().faint);
    for (std::size_t k = 0; k < cells.size(); ++k) draw_cell(f, cells[k], cell_of(f, tray, k, cells.size()));
}

/// Draws the ways of this step last, above the others.
void draw_ways(const WallFigure& f) {
    for (const bool now : {false, true})
        for (const Partial& p : f.wall.parts().partials()) {
            if (f.wall.parts().added_share(p, f.tick()) == 0 || tray_of(f, p).w() < f.px(2)) continue;
            const std::vector<PartCell> cells = part_cells(f.run, f.wall.parts(), p, p.rows.begin);
            if (cells.empty() || cells.back().now != now) continue;
            draw_way(f, p, cell_of(f, tray_of(f, p), cells.size() - 1, cells.size()), now);
        }
}

void draw_names(const WallFigure& f) {
    const Theme& t = f.theme();
    const Parts& parts = f.wall.parts();
    const float y = f.seen.y0 - f.gap / 2 - f.above;
    const float band = f.x_of(parts.keys(0).end()) - f.x_of(0);
    const float least = Canvas::width(t.small_text, part_names(parts, parts.with_keys() - 1).back()) + f.px(4);
    const Index step = whole(std::ceil(least / std::max(1.f, band)), 1, parts.with_keys());
    for (Index s = 0; s < parts.with_keys(); s += step) {
        const Index last = std::min(s + step, parts.with_keys()) - 1;
        Box b = {std::max(f.x_of(parts.keys(s).begin), f.seen.x0), y,
                 std::min(f.x_of(parts.keys(last).end()), f.seen.x1), y + f.names};
        if (b.w() < least) continue;
        f.canvas.line({b.x0 + f.px(3), b.y1}, {b.x1 - f.px(3), b.y1}, t.bus);
        f.canvas.text_in(t.small_text, b, t.ink, part_names(parts, s), Align::centre);
    }
}

/// The boundaries of parts, from the strip above the matrix to the strip below it.
void draw_boundaries(const WallFigure& f) {
    const float outside = f.gap + f.strip, above = f.above + outside;
    const Box from = f.leads ? f.stack : f.seen;
    for (Index s = 1; s < f.wall.parts().with_keys(); ++s) {
        const float x = f.x_of(f.wall.parts().keys(s).begin);
        if (x <= f.seen.x0 || x >= f.seen.x1) continue;
        const ImU32 colour = Theme::faded(f.theme().ink, 0.8f);
        // A boundary does not cross the words about the rows beyond the last one.
        const float end = f.y_end(f.run.recorded().seq_q);
        const float beyond = f.y_of(f.wall.row(f.wall.rows() - 1).begin) + f.tile_h();
        const auto line = [&](float y0, float y1) { f.canvas.line({x, y0}, {x, y1}, colour, f.px(2)); };
        line(from.y0 - (f.leads ? above : 0), std::min(end, from.y1));
        if (f.leads || beyond < from.y1) line(std::min(beyond, from.y1), from.y1 + (f.leads ? outside : 0));
    }
}

}  // namespace

float tray_height(const Theme& t, float room) {
    const float line = Canvas::height(t.small_text);
    for (const float height : {2 * line + t.px(14), line + t.px(10)})
        if (height <= 0.55f * room) return height;
    return 0;
}

const Partial* partial_at(const WallFigure& f, ImVec2 at) {
    for (const Partial& p : f.wall.parts().partials())
        if (f.tray > 0 && tray_of(f, p).contains(at)) return &p;
    return nullptr;
}

void draw_parts(const WallFigure& f) {
    if (f.wall.parts().count() == 0) return;
    draw_boundaries(f);
    if (f.nth == 0) draw_names(f);
    if (f.tray == 0) return;
    f.within(f.seen, [&] {
        for (const Partial& p : f.wall.parts().partials()) draw_tray(f, p);
    });
    const float right = f.seen.x1 + f.gap + f.statistics + f.strip;
    f.within({f.seen.x0, f.seen.y0, right, f.seen.y1}, [&] { draw_ways(f); });
}

}  // namespace tilescope::gui::wall
