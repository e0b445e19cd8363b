// The ways between HBM, L2 and the SMs, as wide as their bandwidths, and what is on them.
#include <algorithm>

#include "gui/draw/items.hpp"
#include "gui/machine/figure.hpp"

namespace tilescope::gui::machine {
namespace {

/// Slow, fast, slow.
float eased(float x) { return x * x * (3 - 2 * x); }

/// Where the tile is between its place on chip (0) and in HBM (1): by way of L2, and no further than that where L2 has
/// it, or keeps it.
Box place_on_way(const MachineFigure& f, const Move& m, float s) {
    if (!f.l2.exists()) return mixed(m.tile, m.region, s);
    if (m.missed == 0) return mixed(m.tile, m.held, s);
    return s < 0.5f ? mixed(m.tile, m.held, 2 * s) : mixed(m.held, m.region, 2 * s - 1);
}

/// At its ends as large as it is drawn there, and in between large enough for its name.
void draw_flying(const MachineFigure& f, const Move& m, const std::string& name, ImU32 hue, bool down) {
    const Theme& t = f.theme();
    const float s = eased(f.arrived);
    Box b = place_on_way(f, m, down ? s : 1 - s);
    const ImVec2 least = Canvas::size(t.small_text, name), at = b.centre();
    const float half = 4 * s * (1 - s) / 2;
    const float w = std::max(b.w() / 2, half * (least.x + f.px(10))),
                h = std::max(b.h() / 2, half * (least.y + f.px(6)));
    b = {at.x - w, at.y - h, at.x + w, at.y + h};
    f.canvas.fill(b, hue, f.px(2));
    f.canvas.outline(b, t.highlight, f.px(1.5f), f.px(2));
    if (b.w() >= least.x + f.px(2) && b.h() >= least.y)
        f.canvas.text_in(t.small_text, b, Theme::ink_on(hue), name, Align::centre);
}

/// The way that the tile took. Into SRAM it is straight; registers lie behind it.
void draw_way(const MachineFigure& f, const Move& m, ImU32 colour, bool down) {
    const RecordedTile& tile = f.run.trace().tiles()[m.step->tile()];
    const ImVec2 cell = {m.region.centre().x, m.region.y0}, end = {m.tile.centre().x, m.tile.y1};
    const ImVec2 begin = f.l2.exists() ? ImVec2{m.held.centre().x, m.held.y0} : cell;
    if (f.l2.exists() && m.missed > 0) f.canvas.wire(cell, {m.held.centre().x, m.held.y1}, {}, colour);
    const float turn = m.tile.y1 + f.px(4);
    if (tile.space == Space::sram)
        f.canvas.wire(begin, {end.x, m.door}, {end}, colour);
    else
        f.canvas.wire(begin, {m.gutter, m.door}, {{m.gutter, turn}, {end.x, turn}, end}, colour);
    f.canvas.arrow_head(down ? begin : end, down, colour);
}

/// Both on one scale: the wider one takes the width that there is.
float width_of(const MachineFigure& f, double rate, float room) {
    return room * static_cast<float>(rate / std::max(l2_rate(f.run), dram_rate(f.run)));
}

void draw_pipe(const MachineFigure& f, const Box& at, double rate) {
    const float half = width_of(f, rate, at.w()) / 2, x = at.centre().x;
    f.canvas.fill({x - half, at.y0, x + half, at.y1}, Theme::faded(f.theme().bus, 0.3f));
}

}  // namespace

void draw_pipes(const MachineFigure& f, const Pipes& at) {
    if (f.l2.exists()) draw_pipe(f, at.of_l2, l2_rate(f.run));
    draw_pipe(f, at.of_dram, dram_rate(f.run));
}

void draw_moves(const MachineFigure& f) {
    const Theme& t = f.theme();
    for (const Move& m : f.moves) {
        const ImU32 hue = t.hue(f.run.trace().tiles()[m.step->tile()].meaning);
        draw_way(f, m, Theme::faded(hue, f.arrived * (m.in_front ? 0.9f : 0.4f)), m.step->kind() == Kind::store);
    }
    if (f.arrived >= 1) return;
    for (const Move& m : f.moves) {
        const RecordedTile& tile = f.run.trace().tiles()[m.step->tile()];
        draw_flying(f, m, tile.name, Theme::faded(t.hue(tile.meaning), m.in_front ? 1.f : 0.6f),
                    m.step->kind() == Kind::store);
    }
}

void draw_pipe_texts(const MachineFigure& f, const Pipes& at) {
    const Theme& t = f.theme();
    const auto write = [&](const Box& pipe, double rate, const std::vector<std::string>& texts) {
        if (pipe.h() < Canvas::height(t.small_text)) return;
        const float half = width_of(f, rate, pipe.w()) / 2, middle = pipe.centre().x;
        const Box line = {middle - half + f.px(6), pipe.centre().y - Canvas::height(t.small_text) / 2, pipe.x1,
                          pipe.centre().y + Canvas::height(t.small_text) / 2 + f.px(1)};
        f.canvas.text_on_patch(t.small_text, line, t.dim_ink, Theme::mixed(t.panel, t.bus, 0.3f), texts);
        if (hovered(pipe)) tooltip(about_pipes(f.run));
    };
    if (f.l2.exists()) write(at.of_l2, l2_rate(f.run), l2_pipe_text(f.run));
    write(at.of_dram, dram_rate(f.run), dram_pipe_text(f.run));
}

}  // namespace tilescope::gui::machine
