#include <algorithm>
#include <cmath>

#include "gui/draw/words.hpp"
#include "gui/machine/figure.hpp"
#include "gui/panels.hpp"
#include "show/words/hbm_text.hpp"

namespace tilescope::gui::machine {
namespace {

/// The figure from top to bottom; every part as high as the window allows. In a hall there is always a finding, but
/// never the reason for it.
struct Layout {
    Box title, finding, reason, launch, map, sm, l2, hbm_title, hbm, odometers, note;
    Pipes pipes;
};

Layout layout(const MachineFigure& f, Box area, bool titled, bool with_odometers) {
    const Theme& t = f.theme();
    const float text = Canvas::height(t.text), small = Canvas::height(t.small_text), gap = f.px(6);
    Layout l;
    const float note = Canvas::width(t.small_text, f.run.shortened());
    const bool beside_title =
        t.in_a_hall() && area.w() > note + Canvas::width(t.text, hbm_titles(f.run).front()) + f.px(24);
    if (note > 0 && !beside_title) {
        l.note = {area.x0, area.y1 - small - f.px(2), area.x1, area.y1};
        area.y1 = l.note.y0 - f.px(2);
    }
    if (titled) l.title = area.cut_top(Canvas::height(t.title) + f.px(4));
    if (t.in_a_hall() || area.h() > f.px(560)) l.finding = area.cut_top(finding_height(t, area));
    if (!t.in_a_hall() && l.finding.h() > 0) l.reason = area.cut_top(2 * t.text->FontSize + f.px(6));
    if (with_odometers && area.h() > f.px(360)) {
        l.odometers = {area.x0, area.y1 - odometers_height(f), area.x1, area.y1};
        area.y1 = l.odometers.y0 - f.px(4);
    }
    const float all = area.h();
    const float large = std::clamp(all * (t.in_a_hall() ? 0.53f : 0.5f), f.px(110), f.px(520));
    const bool map_beside = area.w() > f.px(520) && large > f.px(190);
    if (!t.in_a_hall() || !map_beside) l.launch = area.cut_top(text + f.px(6));
    if (map_beside) {
        l.sm = l.map = area.cut_top(large);
        l.sm.x1 = l.sm.x0 + std::floor(area.w() * 0.66f);
        l.map.x0 = l.sm.x1 + f.px(10);
        if (t.in_a_hall()) l.launch = l.map.cut_top(text + f.px(6));
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
    if (note > 0 && beside_title) {
        l.note = {l.hbm_title.x1 - note, l.hbm_title.y0, l.hbm_title.x1, l.hbm_title.y1};
        l.hbm_title.x1 = l.note.x0 - f.px(12);
    }
    l.hbm = area;
    return l;
}

/// HBM's tensors and their names come first; where these have no room, the odometers are left out.
Layout layout(const MachineFigure& f, const Box& area, bool titled) {
    const Layout all = layout(f, area, titled, true);
    const float least = Canvas::height(f.theme().title) + f.px(32);
    return all.hbm.h() < least ? layout(f, area, titled, false) : all;
}

/// Whether the run did something at this position. In a race, one run may stand still while the other moves.
bool moved(const Shown& shown, const Run& run) {
    const Session& s = shown.session;
    const Index position = std::min(shown.playback.position(), s.length());
    if (position < 1) return false;
    const auto now = s.ticks_at(position), before = s.ticks_at(position - 1);
    return &run == s.rival() ? now.second != before.second : now.first != before.first;
}

}  // namespace

void panel(Shown& shown, Derived& derived, Screen& screen, Run& run, const char* title) {
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    if (room.x < 20 || room.y < 20) return;
    const Index last = std::max<Index>(0, run.schedule().sms_used() - 1);
    MachineFigure f{.shown = shown,
                    .screen = screen,
                    .run = run,
                    .l2 = derived.l2s.of(run, shown.session.version()),
                    .canvas = Canvas(screen.theme),
                    .prefix = &run == shown.session.rival() ? "rival-" : "",
                    .focus = std::min(shown.view.sm, last),
                    .over = run.tick() > 0 && run.tick() == run.ticks() && !moved(shown, run),
                    .arrived = moved(shown, run) ? static_cast<float>(shown.playback.fraction()) : 1,
                    .work = {},
                    .moves = {}};
    f.work = work_of_sms(run, f.over);
    Layout l = layout(f, {at.x, at.y, at.x + room.x, at.y + room.y}, *title != 0);
    f.canvas.text_in(screen.theme.title, l.title, screen.theme.ink, title);
    if (l.finding.h() > 0) draw_finding(f.canvas, l.finding, machine_headline(run, f.l2));
    if (l.reason.h() > 0)
        draw_sentences(f.canvas, screen.theme.text, l.reason, screen.theme.dim_ink, machine_reason(run, f.l2));
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
    f.canvas.text_in(screen.theme.small_text, l.note, screen.theme.dim_ink, run.shortened());
}

}  // namespace tilescope::gui::machine
