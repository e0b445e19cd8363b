// All SMs of the GPU, one square each; of more than can be seen, the first ones.
#include <algorithm>
#include <cmath>

#include "gui/draw/items.hpp"
#include "gui/draw/whole.hpp"
#include "gui/machine/figure.hpp"
#include "show/sm_text.hpp"

namespace tilescope::gui::machine {
namespace {

struct Squares {
    float pitch = 0, side = 0;
    Index in_row = 1, rows = 1;

    Index number(Index sms) const { return std::min(sms, in_row * rows); }
};

/// The largest squares with which `n` of them fit, or, where none are small enough, as many of the smallest as do.
Squares squares(const MachineFigure& f, Index n, float width, float height) {
    Squares s;
    for (float pitch = f.px(16); pitch >= f.px(4); pitch -= 1) {
        s.pitch = std::floor(pitch);
        s.in_row = whole(width / s.pitch, 1, n);
        s.rows = ceil_div(n, s.in_row);
        if (static_cast<float>(s.rows) * s.pitch <= height) break;
    }
    if (const Index fit = whole(height / s.pitch + 0.5f, 1, s.rows); fit < s.rows)
        s.rows = fit;
    else
        s.in_row = ceil_div(n, s.rows);  // rows of equal length, as far as they go
    s.side = std::max(2.f, s.pitch - std::max(1.f, std::floor(s.pitch / 5)));
    return s;
}

/// In the hue of what it moves now; of none where it computes.
ImU32 colour_of(const MachineFigure& f, Index sm) {
    const auto& sms = f.run.moment().sms;
    const Step* step =
        sm < static_cast<Index>(sms.size()) ? f.run.operation(sms[static_cast<std::size_t>(sm)]) : nullptr;
    if (!step || !step->moves_data()) return Theme::mixed(f.theme().panel, f.theme().ink, 0.7f);
    return f.theme().hue(f.run.trace().tiles()[step->tile()].meaning);
}

void draw_square(const MachineFigure& f, const Box& b, Work work, ImU32 colour, bool focus) {
    const Theme& t = f.theme();
    const Canvas& c = f.canvas;
    const float round = std::min(f.px(2), b.w() / 4);
    if (work == Work::shown) c.fill(b, colour, round);
    if (work == Work::elsewhere) {
        c.fill({b.x0, b.centre().y, b.x1, b.y1}, Theme::faded(t.ink, 0.4f), round);
        c.outline(b, Theme::faded(t.ink, 0.4f), 1, round);
    }
    if (work == Work::none) c.outline(b, t.bus, 1, round);
    if (focus) c.outline(b.grown(f.px(1.5f)), t.highlight, f.px(2), round);
}

}  // namespace

float sm_map_height(const MachineFigure& f, float width, float at_most) {
    const Squares s = squares(f, f.run.experiment().gpu.sms, width, at_most);
    return static_cast<float>(s.rows) * s.pitch;
}

void draw_sm_map(MachineFigure& f, Box area) {
    const Theme& t = f.theme();
    const auto& recorded = f.run.moment().sms;
    const Index sms = f.run.experiment().gpu.sms;
    const std::vector<Work> work = work_of_sms(f.run, f.over);
    const Box line = area.cut_top(Canvas::height(t.text) + f.px(6));
    f.canvas.text_in(t.text, line, t.ink, launch_lines(f.run, busy_sms(work), f.over || has_ended(f.run)));
    if (area.h() < f.px(4)) return;
    const Squares s = squares(f, sms, area.w(), area.h());
    for (Index sm = 0; sm < s.number(sms); ++sm) {
        const float x = area.x0 + static_cast<float>(sm % s.in_row) * s.pitch;
        const float y = area.y0 + static_cast<float>(sm / s.in_row) * s.pitch;
        const Box b = {x, y, x + s.side, y + s.side};
        const bool known = sm < static_cast<Index>(recorded.size());
        const Work now = work[static_cast<std::size_t>(sm)];
        draw_square(f, b, now, colour_of(f, sm), sm == f.focus);
        if (known) {
            const std::string name = f.prefix + "sm-" + std::to_string(sm);
            ImGui::SetCursorScreenPos(b.min());
            if (hit_area(name, {s.side, s.side})) f.app.view.sm = sm;
            f.app.place(name);
        }
        if (hovered(b)) tooltip(about_sm(f.run, sm, now));
    }
}

}  // namespace tilescope::gui::machine
