#include "gui/layout.hpp"

#include <algorithm>

#include "gui/panels.hpp"

namespace tilescope::gui {
namespace {

/// In small windows the side panels take only a share of the width, so that the middle keeps the rest.
Layout at_a_desk(const Theme& t, ImVec2 size, bool with_controls) {
    const float gap = t.px(8), x0 = gap, y0 = gap, w = size.x - 2 * gap, h = size.y - 2 * gap;
    const float bottom = std::min(t.px(96), h * 0.3f);
    const float left = with_controls ? std::clamp(w * 0.17f, std::min(t.px(200), w * 0.24f), t.px(300)) : -gap;
    const float right = std::clamp(w * 0.31f, std::min(t.px(300), w * 0.33f), t.px(560));
    const float top = h - bottom - gap, middle = w - left - right - 2 * gap;
    const float code = top * 0.5f;
    Layout l = {};
    if (with_controls) l.controls = {x0, y0, left, top};
    l.memory = {x0 + left + gap, y0, middle, top};
    l.code = {x0 + left + middle + 2 * gap, y0, right, code - gap / 2};
    l.detail = {l.code.x, y0 + code + gap / 2, right, top - code - gap / 2};
    l.transport = {x0, y0 + top + gap, w, bottom};
    return l;
}

/// Gives `room` to the drawer that is open, if any.
void open_at(const ImVec4& room, Drawer open, Layout& l) {
    if (open == Drawer::controls) l.controls = room;
    if (open == Drawer::code) l.code = room;
    if (open == Drawer::detail) l.detail = room;
}

Layout in_a_hall(const Shown& shown, const Screen& screen, ImVec2 size) {
    const Theme& t = screen.theme;
    const Drawer open = drawer_of(shown, screen);
    const float gap = t.px(8), w = size.x - 2 * gap, h = size.y - 2 * gap;
    const float time = std::min(open == Drawer::controls ? t.px(96) : t.px(40), h * 0.2f);
    const float words = std::min(strip_height(shown, screen, w), h * 0.35f), top = h - time - words - 2 * gap;
    const float beside = open == Drawer::none ? -gap : std::clamp(w * 0.34f, std::min(t.px(360), w * 0.45f), t.px(560));
    const bool left = open == Drawer::controls;
    const ImVec4 drawer = {left ? gap : gap + w - beside, gap, beside, top};
    Layout l = {};
    open_at(drawer, open, l);
    l.memory = {left ? gap + beside + gap : gap, gap, w - beside - gap, top};
    l.strip = {gap, gap + top + gap, w, words};
    l.transport = {gap, gap + h - time, w, time};
    return l;
}

/// A drawer opens beside its name: on an upright phone below the stage, where the thumb reaches; else beside the stage.
Layout in_the_hand(const Shown& shown, const Screen& screen, ImVec2 size) {
    const Theme& t = screen.theme;
    const Drawer open = drawer_of(shown, screen);
    const bool upright = size.y > size.x, folded = open == Drawer::none;
    const float gap = t.px(6), w = size.x - 2 * gap, h = size.y - 2 * gap;
    const float time = std::min(t.px(upright && open == Drawer::controls ? 118 : 84), h * 0.3f), top = h - time - gap;
    const float names = strip_height(shown, screen, w);
    ImVec4 drawer = {};
    Layout l = {};
    if (upright) {
        const float words = std::min(names, top * 0.4f), rest = top - words - gap;
        const float below = folded ? -gap : std::round(rest * 0.55f);
        l.memory = {gap, gap, w, rest - below - gap};
        l.strip = {gap, l.memory.y + l.memory.w + gap, w, words};
        drawer = {gap, l.strip.y + words + gap, w, below};
    } else {
        const float side = std::round(w * (folded ? 0.32f : 0.42f)), x = gap + w - side,
                    words = folded ? top : std::min(names, top * 0.4f);
        l.memory = {gap, gap, w - side - gap, top};
        l.strip = {x, gap, side, words};
        drawer = {x, gap + words + gap, side, top - words - gap};
    }
    open_at(drawer, open, l);
    l.transport = {gap, gap + h - time, w, time};
    return l;
}

}  // namespace

Layout layout(const Shown& shown, const Screen& screen, ImVec2 size) {
    if (reader_of(shown, screen) == Reader::in_the_hand) return in_the_hand(shown, screen, size);
    if (reader_of(shown, screen) == Reader::in_a_hall) return in_a_hall(shown, screen, size);
    return at_a_desk(screen.theme, size, !shown.view.no_controls);
}

}  // namespace tilescope::gui
