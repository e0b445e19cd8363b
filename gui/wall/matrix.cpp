// The tiles of scores: what was painted, what is skipped, what lies in HBM, what is to come.
#include <algorithm>
#include <cmath>

#include "gui/draw/whole.hpp"
#include "gui/wall/figure.hpp"
#include "show/stage/wall_text.hpp"

namespace tilescope::gui::wall {
namespace {

/// How a group of tiles looks.
struct Look {
    float painted = 0;                  ///< share of the group's tiles that have a coat
    float recent = 0;                   ///< 1: painted just now; fades with later ticks
    const WallSheet* stored = nullptr;  ///< the last sheet of which there is something in HBM
    float strength = 0;                 ///< of the hue of `stored`
    float hidden = 0;                   ///< share of the tiles in which no query sees a key
    bool skipped = false;
    double coats = 0, of = 0;
};

Look look_of(const WallFigure& f, const WallGroup& g) {
    Look l;
    const auto until_now = [&](const std::vector<Index>& ticks) {
        return std::upper_bound(ticks.begin(), ticks.end(), f.tick()) - ticks.begin();
    };
    const auto n = static_cast<float>(g.tiles());
    const std::vector<WallSheet>& sheets = f.wall.sheets();
    l.hidden = static_cast<float>(g.hidden) / n;
    l.skipped = g.skipped == g.tiles();
    l.painted = static_cast<float>(until_now(g.painted)) / n;
    if (const auto begun = until_now(g.begun); begun > 0) {
        const auto fades = static_cast<float>(std::max<Index>(1, f.run.ticks())) / 6;
        l.recent = std::exp(-static_cast<float>(f.tick() - g.begun[static_cast<std::size_t>(begun) - 1]) / fades);
    }
    for (std::size_t s = 0; s < sheets.size(); ++s) {
        if (until_now(g.stored[s]) == 0) continue;
        const float later = sheets.size() > 1 ? static_cast<float>(s) / static_cast<float>(sheets.size() - 1) : 0;
        l.stored = &sheets[s], l.strength = 0.25f + 0.6f * later;
    }
    if (g.tiles() == 1 && g.begun.size() > 1) {
        l.coats = f.wall.coats(g.rows.begin, g.cols.begin, f.tick());
        l.of = f.wall.coats(g.rows.begin, g.cols.begin, f.run.ticks());
    }
    return l;
}

ImU32 colour_of(const WallFigure& f, const Look& l) {
    const Theme& t = f.theme();
    const float coats = l.of > 0 ? static_cast<float>(l.coats / l.of) : 0;
    // The shade tells the number of coats, even where ×n has no room.
    if (l.stored)
        return Theme::mixed(
            t.panel, t.hue(l.stored->meaning),
            std::min(0.95f, l.of > 1 && f.wall.sheets().size() == 1 ? 0.12f + 0.7f * coats
                                                                    : l.strength + (l.of > 1 ? 0.35f * coats : 0)));
    return Theme::mixed(t.panel, t.dim_ink, (0.2f + 0.35f * l.recent) * (0.3f + 0.7f * l.painted));
}

/// Hatches the part of a tile that the mask hides, at the left and right ends of the rows.
void hatch_masked_part(const WallFigure& f, const Box& b, Index i, Index j) {
    const Problem& p = f.run.recorded();
    const Span rows = f.wall.row(i), cols = f.wall.col(j);
    const Theme& t = f.theme();
    // Row by row where rows can be told apart, else in a few bands.
    const Index bands = std::min<Index>(rows.size, whole(b.h() / 3, 1, 64));
    for (Index k = 0; k < bands; ++k) {
        const Index row = rows.begin + rows.size * k / bands;
        const Index next = std::max(row + 1, rows.begin + rows.size * (k + 1) / bands);
        Index from = cols.begin, to = cols.end();  // hidden at the left, and at the right
        while (from < cols.end() && !p.sees(row, from)) ++from;
        while (to > from && !p.sees(row, to - 1)) --to;
        const float y0 = f.y_of(row), y1 = f.y_of(next);
        f.canvas.hatch({f.x_of(cols.begin), y0, f.x_of(from), y1}, t.bus, f.px(5));
        f.canvas.hatch({f.x_of(to), y0, f.x_of(cols.end()), y1}, t.bus, f.px(5));
    }
}

bool large(const WallFigure& f, float least) { return std::min(f.tile_w(), f.tile_h()) >= f.px(least); }

void draw_group(const WallFigure& f, const WallGroup& g) {
    const Theme& t = f.theme();
    const Box first = f.tile(g.rows.begin, g.cols.begin), last = f.tile(g.rows.end() - 1, g.cols.end() - 1);
    const Box whole_box = {first.x0, first.y0, last.x1, last.y1};
    if (!f.sees(whole_box)) return;
    const Look l = look_of(f, g);
    const Box b = whole_box.grown(large(f, 14) && !l.stored ? -f.px(1) : 0);
    if (l.painted > 0 || l.stored) f.canvas.fill(b, colour_of(f, l));
    if (l.skipped || l.hidden > 0.5f) f.canvas.hatch(b, Theme::faded(t.bus, l.skipped ? 0.75f : 1.f), f.px(6));
    if (g.tiles() > 1) return;
    if (f.wall.cover(g.rows.begin, g.cols.begin) == Cover::partial) hatch_masked_part(f, b, g.rows.begin, g.cols.begin);
    if (l.stored) f.canvas.outline(whole_box, Theme::faded(t.panel, 0.5f));
    if (l.painted == 0 && !l.skipped && !l.stored)
        large(f, 20) ? f.canvas.dashed(b, t.bus) : f.canvas.outline(b, t.faint);
    // In a hall, the large type must fit above the painters' ways.
    const bool room = !t.in_a_hall() || b.h() >= 2.2f * Canvas::height(t.small_text);
    if (l.of > 1 && l.coats >= 0.5 && large(f, 22) && room) {
        const std::string coats = "×" + std::to_string(std::lround(l.coats));
        f.canvas.text_in(
            t.small_text,
            {b.x0 + f.px(2), b.y0 + f.px(2), b.x1 - f.px(2), b.y0 + f.px(2) + Canvas::height(t.small_text)},
            l.stored ? Theme::ink_on(colour_of(f, l)) : t.dim_ink, coats, Align::right);
    }
}

/// What a ragged tile has beyond the end of the matrix: room on chip, and nothing in it.
void draw_overhang(const WallFigure& f) {
    const Index rows = f.run.recorded().seq_q, keys = f.run.recorded().seq_k;
    const float x = f.x_of(keys), y = f.y_end(rows);
    const float bottom = f.y_of(f.wall.row(f.wall.rows() - 1).begin) + f.tile_h();
    const Theme& t = f.theme();
    const Overhang lacks = overhang(f.wall, f.run);
    const auto say = [&](const Box& b, const std::vector<std::string>& words) {
        f.canvas.dashed(b, t.dim_ink);
        f.canvas.hatch(b, Theme::faded(t.dim_ink, 0.5f), f.px(9));
        const float half = Canvas::height(t.small_text) / 2 + f.px(1), y0 = b.centre().y;
        if (b.h() > 2 * half)
            f.canvas.text_on_patch(t.small_text, {b.x0 + f.px(2), y0 - half, b.x1 - f.px(2), y0 + half}, t.ink, t.panel,
                                   words, Align::centre);
    };
    if (x < f.matrix.x1 - 1) say({x, f.matrix.y0, f.matrix.x1, std::min(y, bottom)}, lacks.keys);
    if (y < bottom - 1) say({f.matrix.x0, y, f.matrix.x1, bottom}, lacks.rows);
    // The end of the matrix.
    if (x < f.matrix.x1 - 1) f.canvas.line({x, f.matrix.y0}, {x, y}, t.ink, f.px(2));
    if (y < bottom - 1) f.canvas.line({f.matrix.x0, y}, {x, y}, t.ink, f.px(2));
}

/// Rows of tiles whose thread blocks were not recorded.
void draw_unrecorded(const WallFigure& f) {
    const Theme& t = f.theme();
    if (f.run.has_whole_heads() || f.wall.recorded_rows() == f.wall.rows()) return;
    const Box b = {f.matrix.x0, f.y_of(f.wall.row(f.wall.recorded_rows()).begin), f.matrix.x1, f.matrix.y1};
    f.canvas.fill(b, Theme::faded(t.panel, 0.6f));
    f.canvas.dashed(b, t.dim_ink);
    const float half = Canvas::height(t.text) / 2 + f.px(2), y = b.centre().y;
    f.canvas.text_on_patch(t.text, {b.x0 + f.px(4), y - half, b.x1 - f.px(4), y + half}, t.ink, t.panel,
                           unrecorded_text(f.wall), Align::centre);
}

/// Says what is skipped, in the upper right corner, where a mask leaves room there.
void draw_skipped(const WallFigure& f) {
    const std::vector<std::string> words = skipped_text(f.wall);
    if (words.empty() || !f.wall.visits(0, f.wall.cols() - 1).empty()) return;
    const float high = Canvas::height(f.theme().text) + f.px(8);
    Index first = f.wall.cols() - 1;  // columns from here on are hidden in the first one or two rows, as the words need
    const Index row = std::min<Index>(high <= f.tile_h() ? 0 : 1, f.wall.rows() - 1);
    while (first > 0 && f.wall.visits(0, first - 1).empty() && f.wall.visits(row, first - 1).empty()) --first;
    const Box room = {f.x_of(f.wall.col(first).begin) + f.px(4), f.matrix.y0 + f.px(4), f.matrix.x1 - f.px(4),
                      f.matrix.y0 + high};
    if (Canvas::width(f.theme().text, words.back()) + f.px(8) > room.w() || room.h() > 2 * f.tile_h()) return;
    f.canvas.text_on_patch(f.theme().text, room, f.theme().ink, f.theme().panel, words, Align::right);
}

}  // namespace

/// Says which part is seen, so that nobody takes the part for the whole.
void draw_seen(const WallFigure& f) {
    if (!f.shown.view.zoom) return;
    const Theme& t = f.theme();
    const auto span = [](float from, float to, float size, Index count) {
        const Index first = whole(std::floor(from / size + 0.01f), 0, count - 1);
        return Span{first, whole(std::ceil(to / size - 0.01f), first + 1, count) - first};
    };
    const Box& s = f.seen;
    const Span rows = span(s.y0 - f.matrix.y0, s.y1 - f.matrix.y0, f.pitch_down(), f.wall.rows());
    const Span cols = span(s.x0 - f.matrix.x0, s.x1 - f.matrix.x0, f.tile_w(), f.wall.cols());
    const float height = Canvas::height(t.small_text) + f.px(2);
    f.canvas.text_on_patch(t.small_text, {s.x0 + f.px(8), s.y0 + f.px(3), s.x1 - f.px(8), s.y0 + f.px(3) + height},
                           t.ink, t.panel, seen_text(f.wall, rows, cols), Align::right);
}

void draw_matrix(const WallFigure& f) {
    const float least = f.px(6);
    const Index down = std::max<Index>(1, whole(std::ceil(least / f.tile_h()), 1, f.wall.rows()));
    const Index across = std::max<Index>(1, whole(std::ceil(least / f.tile_w()), 1, f.wall.cols()));
    f.within(f.seen, [&] {
        for (const WallGroup& g : f.wall.groups(down, across)) draw_group(f, g);
        draw_overhang(f);
        draw_unrecorded(f);
    });
    if (!f.shown.view.zoom) draw_skipped(f);
    f.canvas.outline(f.seen, f.theme().panel_border);
}

}  // namespace tilescope::gui::wall
