#include <algorithm>
#include <cmath>

#include "gui/draw/words.hpp"
#include "gui/machine/figure.hpp"
#include "gui/panels.hpp"

namespace tilescope::gui::machine {
namespace {

/// The figure from top to bottom; every part as high as the window allows.
struct Layout {
    Box title, words, launch, map, sm, l2, hbm_title, hbm, odometers, note;
    Pipes pipes;
};

Layout layout(const MachineFigure& f, const Box& whole, bool titled, bool with_odometers) {
    Box area = whole;
    const Theme& t = f.theme();
    const float text = Canvas::height(t.text), small = Canvas::height(t.small_text), gap = f.px(6);
    Layout l;
    if (!f.run.shortened().empty()) {
        l.note = {area.x0, area.y1 - small - f.px(2), area.x1, area.y1};
        area.y1 = l.note.y0 - f.px(2);
    }
    if (titled) l.title = area.cut_top(Canvas::height(t.title) + f.px(4));
    // In a hall the finding stays; its reason, the map's squares and, without room, the odometers give way.
    const bool wide = area.w() > 1.4f * area.h();
    if (t.projector)
        l.words = area.cut_top(std::max(t.headline->FontSize * (wide ? 1.f : 2.f), 2 * t.text->FontSize) + f.px(4));
    else if (area.h() > f.px(560))
        l.words = area.cut_top(2 * t.headline->FontSize + 2 * t.text->FontSize + f.px(10));
    if (with_odometers && area.h() > f.px(360)) {
        l.odometers = {area.x0, area.y1 - odometers_height(f), area.x1, area.y1};
        area.y1 = l.odometers.y0 - f.px(4);
    }
    const float all = area.h();
    const float large = std::clamp(all * (t.projector ? 0.48f : 0.5f), f.px(110), f.px(520));
    l.launch = area.cut_top(text + f.px(6));
    if (area.w() > f.px(520) && large > f.px(190)) {
        l.sm = l.map = area.cut_top(large);
        l.sm.x1 = l.sm.x0 + std::floor(area.w() * 0.66f);
        l.map.x0 = l.sm.x1 + f.px(10);
    } else {
        l.map = area.cut_top(sm_map_height(f, area.w(), all * 0.08f));
        area.cut_top(gap);
        l.sm = area.cut_top(large);
    }
    const float pipe = std::clamp(all * 0.06f, small, f.px(40));
    l.pipes.of_l2 = l.pipes.of_dram = area.cut_top(pipe);
    if (f.l2.exists()) {
        l.l2 = area.cut_top(small + f.px(15) + std::clamp(all * 0.035f, f.px(10), f.px(22)));
        l.pipes.of_dram = area.cut_top(pipe);
    }
    l.hbm_title = area.cut_top(text + f.px(6));
    l.hbm = area;
    // HBM's tensors and their names come first.
    const float least = Canvas::height(t.title) + f.px(32);
    return with_odometers && l.hbm.h() < least ? layout(f, whole, titled, false) : l;
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
    MachineFigure f{.app = app,
                    .run = run,
                    .l2 = app.l2s.of(run, app.session.version()),
                    .canvas = Canvas(app.theme),
                    .prefix = &run == app.session.rival() ? "rival-" : "",
                    .focus = std::min(app.view.sm, last),
                    .over = run.tick() > 0 && run.tick() == run.ticks() && !moved(app, run),
                    .arrived = moved(app, run) ? static_cast<float>(app.playback.fraction()) : 1,
                    .moves = {}};
    Layout l = layout(f, {at.x, at.y, at.x + room.x, at.y + room.y}, *title != 0, true);
    f.canvas.text_in(app.theme.title, l.title, app.theme.ink, title);
    if (l.words.h() > 0)
        draw_words(f.canvas, l.words, machine_headline(run, f.l2),
                   app.theme.projector ? "" : machine_reason(run, f.l2));
    draw_launch(f, l.launch);
    draw_sm_map(f, l.map, l.map.y1 >= l.sm.y1);
    draw_pipes(f, l.pipes);
    draw_sm(f, l.sm);
    if (f.l2.exists()) draw_l2(f, l.l2);
    draw_hbm(f, l.hbm);
    draw_moves(f);
    draw_pipe_texts(f, l.pipes);
    if (f.l2.exists()) draw_l2_texts(f, l.l2);
    draw_hbm_title(f, l.hbm_title);
    if (l.odometers.h() > 0) draw_odometers(f, l.odometers);
    f.canvas.text_in(app.theme.small_text, l.note, app.theme.dim_ink, run.shortened());
}

}  // namespace tilescope::gui::machine
