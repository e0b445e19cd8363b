// The thread blocks at work: where each is, which way it came and where it goes.
#include <algorithm>
#include <cmath>

#include "gui/draw/message.hpp"
#include "gui/wall/figure.hpp"
#include "show/stage/wall_headline.hpp"

namespace tilescope::gui::wall {
namespace {

/// Draws the ways of all thread blocks so far. Each begins with a dot; a jump to another column or row is dotted.
void draw_trails(const WallFigure& f) {
    const Theme& t = f.theme();
    if (std::min(f.tile_w(), f.tile_h()) < f.px(9)) return;
    const ImU32 colour = Theme::faded(t.dim_ink, 0.7f), faint = Theme::faded(t.dim_ink, 0.45f);
    for (const auto& [block, way] : f.wall.ways()) {
        if (way.size() < 2) continue;
        const Visit* before = nullptr;
        for (const std::size_t k : way) {
            const Visit& v = f.wall.visits()[k];
            if (v.from > f.tick()) break;
            const ImVec2 to = f.box(v).centre();
            if (!before) f.canvas.circle(to, f.px(3.5f), colour);
            if (before) {
                const ImVec2 from = f.box(*before).centre();
                const bool beside =
                    std::abs(v.rows.begin - before->rows.begin) + std::abs(v.cols.begin - before->cols.begin) <= 1;
                if (beside)
                    f.canvas.line(from, to, colour, f.px(3));
                else
                    f.canvas.dashed(from, to, faint);
            }
            before = &v;
        }
    }
}

/// A faint cross: the row and the column of the tile that the SM in focus is at.
void draw_cross(const WallFigure& f) {
    const Painter* own = looked_at(f.painters, f.focus);
    if (!own || !f.leads) return;
    const Box b = f.box(*own->visit);
    const ImU32 colour = Theme::faded(f.theme().ink, 0.06f);
    const Box &s = f.seen, &all = f.stack;
    const auto beyond = [&](Side side) { return f.room(side); };
    if (b.y1 > s.y0 && b.y0 < s.y1)
        f.canvas.fill(
            {s.x0 - beyond(Side::left), std::max(b.y0, s.y0), s.x1 + beyond(Side::right), std::min(b.y1, s.y1)},
            colour);
    if (b.x1 > s.x0 && b.x0 < s.x1)
        f.canvas.fill(
            {std::max(b.x0, s.x0), all.y0 - beyond(Side::above), std::min(b.x1, s.x1), all.y1 + beyond(Side::below)},
            colour);
}

/// The number of the painter's SM, on a tag that points to the next tile.
void draw_tag(const WallFigure& f, const Painter& p, const Box& at) {
    const Theme& t = f.theme();
    const Canvas& c = f.canvas;
    const std::string number = std::to_string(p.sm), whole_name = message("sm.name", number);
    const float h = Canvas::height(t.small_text) + f.px(3), room = at.w() - f.px(3);
    const bool long_name = Canvas::width(t.small_text, whole_name) + f.px(6) <= room;
    const std::string& name = long_name ? whole_name : number;
    const float w = Canvas::width(t.small_text, name) + f.px(6);
    if (w > room || h > at.h() - f.px(2)) return;
    const ImVec2 m = at.centre();
    const Box tag = {std::round(m.x - w / 2), std::round(m.y - h / 2), std::round(m.x + w / 2),
                     std::round(m.y + h / 2)};
    const float tip = f.px(5);
    c.fill(tag, t.now, f.px(2));
    if (p.next && p.next->cols.begin > p.visit->cols.begin && p.next->rows == p.visit->rows)
        c.triangle({tag.x1, tag.y0}, {tag.x1 + tip, m.y}, {tag.x1, tag.y1}, t.now);
    if (p.next && p.next->rows.begin > p.visit->rows.begin && p.next->cols == p.visit->cols)
        c.triangle({m.x - f.px(7), tag.y1}, {m.x, tag.y1 + tip}, {m.x + f.px(7), tag.y1}, t.now);
    c.text_in(t.small_text, tag, Theme::ink_on(t.now), name, Align::centre);
}

/// Writes the painter's scores on chip below the tag, in a pass that needs scores of an earlier pass.
void draw_scores(const WallFigure& f, const Painter& p, const Box& b) {
    const Theme& t = f.theme();
    const float line = Canvas::height(t.small_text), y = b.centre().y + line / 2 + f.px(2);
    const std::vector<std::string> words = scores_on_chip(f.run, f.wall, p);
    if (words.empty() || y + line > b.y1 || Canvas::width(t.small_text, words.back()) > b.w() - f.px(4)) return;
    f.canvas.text_on_patch(t.small_text, {b.x0 + f.px(2), y, b.x1 - f.px(2), y + line}, t.ink, t.panel, words,
                           Align::centre);
}

void draw_painter(const WallFigure& f, const Painter& p) {
    const Theme& t = f.theme();
    const Visit& v = *p.visit;
    const Box b = f.box(v);
    const float round = std::min(f.px(8), std::min(b.w(), b.h()) / 4);
    const ImU32 hue = t.hue(Meaning::score);
    if (p.between) f.canvas.outline(b, Theme::faded(t.now, 0.5f), f.px(1.5f), round);
    if (!p.done && !p.between) {
        const auto share = static_cast<float>(v.painted_share(f.tick()));
        if (share > 0) f.canvas.fill(b, Theme::mixed(t.panel, hue, 0.4f), round);
        f.canvas.fill({b.x0, b.y1 - b.h() * share, b.x1, b.y1}, Theme::mixed(t.panel, hue, 0.85f), round);
        f.canvas.outline(b, t.now, p.sm == f.focus ? f.px(3) : f.px(1.5f), round);
    }
    if (!p.done) draw_tag(f, p, b);
    if (!p.done && !p.between) draw_scores(f, p, b);
}

}  // namespace

void draw_painters(const WallFigure& f) {
    draw_cross(f);
    f.within(f.seen, [&] {
        draw_trails(f);
        for (const Painter& p : f.painters) draw_painter(f, p);
    });
}

}  // namespace tilescope::gui::wall
