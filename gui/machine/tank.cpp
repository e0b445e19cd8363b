// HBM as a tank that tensors fill, to scale: what it has no room for stands above its rim.
#include "gui/machine/tank.hpp"

#include <algorithm>

#include "gui/draw/items.hpp"

namespace tilescope::gui::machine {
namespace {

/// A tensor as a layer, with its name where there is room.
void draw_layer(const Canvas& c, const Spill::Tensor& tensor, const Box& b, float rim) {
    const Theme& t = c.theme();
    const ImU32 fill = Theme::mixed(t.panel, t.hue(tensor.meaning), 0.55f);
    c.fill({b.x0, b.y0, b.x1, std::max(b.y0 + 1, b.y1 - 1)}, fill);
    if (b.y0 < rim) {
        const Box beyond = {b.x0, b.y0, b.x1, std::min(b.y1, rim)};
        c.fill(beyond, Theme::faded(t.panel, 0.35f));
        c.hatch(beyond, Theme::faded(t.bad, 0.6f), c.px(10));
    }
    const float line = Canvas::height(t.text);
    if (b.h() >= line + c.px(2))
        c.text_on_patch(t.text, {b.x0 + c.px(8), b.centre().y - line / 2, b.x1 - c.px(8), b.centre().y + line / 2},
                        t.ink, t.panel, spilled_tensor(tensor), Align::centre);
    if (hovered(b)) tooltip(about_spilled(tensor));
}

}  // namespace

void draw_spill(const Canvas& c, const Spill& s, const Box& area) {
    const Theme& t = c.theme();
    const float line = Canvas::height(t.text), width = std::min(area.w() * 0.5f, c.px(300));
    const float per_byte = (area.h() - c.px(4)) / static_cast<float>(s.needed);
    const Box tank = {area.x0 + c.px(6), area.y1 - static_cast<float>(s.capacity) * per_byte, area.x0 + width, area.y1};
    c.fill(tank, Theme::faded(t.hbm, 0.1f));
    float y = area.y1;
    for (const Spill::Tensor& tensor : s.tensors) {
        const float top = y - static_cast<float>(tensor.bytes) * per_byte;
        draw_layer(c, tensor, {tank.x0, top, tank.x1, y}, tank.y0);
        y = top;
    }
    // An outline of all that stands above the rim; then the tank without a lid: walls, edges of the rim, floor.
    const float wall = c.px(3), drop = c.px(10);
    c.outline({tank.x0, y, tank.x1, tank.y0}, t.bad, c.px(2));
    for (const float x : {tank.x0 - wall, tank.x1 + wall}) {
        c.line({x, tank.y0}, {x, tank.y1}, t.ink, wall);
        c.line({x - drop / 2, tank.y0}, {x + drop / 2, tank.y0}, t.ink, wall);
    }
    c.line({tank.x0 - wall, tank.y1}, {tank.x1 + wall, tank.y1}, t.ink, wall);
    const Box words = {tank.x1 + c.px(18), area.y0, area.x1, area.y1};
    c.strokes({tank.x1 + wall, tank.y0}, {words.x1, tank.y0}, t.ink, c.px(6), c.px(4), 1);
    const float below = std::min(tank.y0 + c.px(4), area.y1 - line);
    c.text_in(t.text, {words.x0, below, words.x1, below + line}, t.ink, rim_text(s));
    const float above = (y + tank.y0) / 2;
    c.text_in(t.title, {words.x0, above - line, words.x1, above}, t.bad, beyond_text(s));
    c.paragraph(t.text, {words.x0, above + c.px(4)}, t.ink, culprit_text(s), words.w(), 3);
}

}  // namespace tilescope::gui::machine
