#include <cmath>

#include "gui/memory/figure.hpp"
#include "gui/panels.hpp"

namespace tilescope::gui::memory {
namespace {

/// The figure from top to bottom; every part as high as the window allows.
struct Layout {
    Box title, map, cards, bus, bus_title, hbm_title, hbm, note;
};

Layout layout(const MemoryFigure& f, Box area, bool titled) {
    const Theme& t = f.theme();
    const float text = Canvas::height(t.text), small = Canvas::height(t.small_text), gap = f.px(8), all = area.h();
    Layout l;
    if (!f.run.shortened().empty()) {
        l.note = {area.x0, area.y1 - small - f.px(2), area.x1, area.y1};
        area.y1 = l.note.y0 - f.px(2);
    }
    if (titled) l.title = area.cut_top(Canvas::height(t.title) + f.px(4));
    l.map = area.cut_top(text + f.px(6) + sm_map_height(f, area.w(), all * 0.07f));
    area.cut_top(gap);
    l.cards = area.cut_top(std::clamp(all * 0.36f, f.px(120), f.px(330)));
    const float bus = std::clamp(all * 0.085f, text + f.px(8), f.px(72));
    area.cut_top(f.px(4));
    l.bus = area.cut_top(bus);
    l.bus_title = {l.bus.x0, l.bus.centre().y - text / 2 - f.px(2), l.bus.x1, l.bus.centre().y + text / 2 + f.px(2)};
    area.cut_top(f.px(5));
    l.hbm_title = area.cut_top(text + f.px(4));
    l.hbm = area;
    return l;
}

/// Whether the run did something at this position. In a race, one may stand still while the other moves.
bool moved(const App& app, const Run& run) {
    const Session& s = app.session;
    const Index position = std::min(app.playback.position(), s.length());
    if (position < 1) return false;
    const auto now = s.ticks_at(position), before = s.ticks_at(position - 1);
    return &run == s.rival() ? now.second != before.second : now.first != before.first;
}

}  // namespace

void panel(App& app, Run& run, const char* title) {
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    if (room.x < 20 || room.y < 20) return;
    const Index last = std::max<Index>(0, run.schedule().sms_used() - 1);
    MemoryFigure f{.app = app,
                   .run = run,
                   .canvas = Canvas(app.theme),
                   .prefix = &run == app.session.rival() ? "rival-" : "",
                   .focus = std::min(app.view.sm, last),
                   .over = run.tick() > 0 && run.tick() == run.ticks() && !moved(app, run),
                   .arrived = moved(app, run) ? static_cast<float>(app.playback.fraction()) : 1,
                   .moves = {}};
    const Layout l = layout(f, {at.x, at.y, at.x + room.x, at.y + room.y}, *title != 0);
    f.canvas.text_in(app.theme.title, l.title, app.theme.ink, title);
    draw_sm_map(f, l.map);
    draw_bus(f, l.bus);
    draw_sm_cards(f, l.cards);
    draw_hbm(f, l.hbm);
    draw_moves(f);
    draw_bus_title(f, l.bus_title);
    draw_hbm_title(f, l.hbm_title);
    f.canvas.text_in(app.theme.small_text, l.note, app.theme.dim_ink, run.shortened());
}

}  // namespace tilescope::gui::memory
