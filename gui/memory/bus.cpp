// The way between HBM and the SMs, and what is on it.
#include "gui/draw/items.hpp"
#include "gui/memory/figure.hpp"
#include "show/hbm_text.hpp"

namespace tilescope::gui::memory {
namespace {

/// Slow, fast, slow.
float eased(float x) { return x * x * (3 - 2 * x); }

/// The tile between its two places: as large as it is drawn in HBM at one end, as on chip at the other, and in between
/// large enough for its name.
void draw_flying(const MemoryFigure& f, const Move& m, const std::string& name, ImU32 hue, bool down) {
    const Theme& t = f.theme();
    const float s = eased(f.arrived);
    Box b = mixed(m.region, m.tile, down ? 1 - s : s);
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
void draw_way(const MemoryFigure& f, const Move& m, ImU32 colour, bool down) {
    const RecordedTile& tile = f.run.trace().tiles()[m.step->tile()];
    const ImVec2 cell = {m.region.centre().x, m.region.y0}, end = {m.tile.centre().x, m.tile.y1};
    const float turn = m.tile.y1 + f.px(4);
    if (tile.space == Space::sram)
        f.canvas.wire(cell, {end.x, m.door}, {end}, colour);
    else
        f.canvas.wire(cell, {m.gutter, m.door}, {{m.gutter, turn}, {end.x, turn}, end}, colour);
    f.canvas.arrow_head(down ? cell : end, down, colour);
}

}  // namespace

void draw_bus(const MemoryFigure& f, const Box& band) {
    f.canvas.fill(band, Theme::faded(f.theme().bus, 0.22f), f.px(4));
}

void draw_moves(const MemoryFigure& f) {
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

void draw_bus_title(const MemoryFigure& f, const Box& line) {
    const Theme& t = f.theme();
    const ImU32 behind = Theme::mixed(t.panel, t.bus, 0.22f);
    const bool wide = line.w() > f.px(430);
    const Box inner = {line.x0 + f.px(8), line.y0, line.x1 - f.px(8), line.y1};
    f.canvas.text_on_patch(t.small_text, inner, t.dim_ink, behind, {bus_rate(f.run)});
    f.canvas.text_on_patch(t.text, inner, f.moves.empty() ? t.dim_ink : t.ink, behind, {bus_traffic(f.run, wide)},
                           Align::right);
    if (hovered(line)) tooltip(about_bus(f.run));
}

}  // namespace tilescope::gui::memory
