// Time: the thread blocks of whole runs on their SMs, as modelled; in a race both on one axis.
#include <algorithm>
#include <cmath>

#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/message.hpp"
#include "gui/draw/whole.hpp"
#include "gui/draw/words.hpp"
#include "gui/gantt/lanes.hpp"
#include "gui/gantt/scoreboard.hpp"
#include "gui/panels.hpp"
#include "show/words/gantt_text.hpp"
#include "show/words/modelled.hpp"

namespace tilescope::gui::gantt {
namespace {

/// One run's lanes, one per SM, from top to bottom.
struct SmLanes {
    Shown& shown;
    Screen& screen;
    Run& run;
    Canvas canvas;
    Box box;            ///< of all lanes
    double us;          ///< the time at the box's right edge
    Index every = 1;    ///< one SM out of `every` is drawn
    bool ahead = true;  ///< what is still to come is drawn, too

    const Theme& theme() const { return screen.theme; }
    const Gantt& gantt() const { return run.gantt(); }
    float px(float x) const { return screen.theme.px(x); }
    bool is_rival() const { return &run == shown.session.rival(); }
    /// The modelled time of the run's tick, in microseconds. In a race, the recording stands for the whole run.
    double now() const { return 1e6 * shown.session.seconds(run, run.tick()); }
    float x(double at) const { return box.x0 + box.w() * static_cast<float>(at / us); }
    Index count() const { return ceil_div(gantt().sms_used(), every); }
    float lane() const { return box.h() / static_cast<float>(count()); }
    Box lane_of(Index sm) const {
        const float y = box.y0 + static_cast<float>(sm / every) * lane();
        return {box.x0, y, box.x1, y + std::max(1.f, lane() - (lane() >= px(5) ? px(1) : 0))};
    }
};

ImU32 shade(const SmLanes& l, bool played, bool other) {
    return Theme::mixed(l.theme().panel, l.theme().ink, (played ? 0.72f : 0.26f) + (other ? 0.1f : 0));
}

/// Thread blocks one by one, each in its slot on the SM.
void draw_stays(const SmLanes& l, const GanttLaunch& launch, const std::vector<bool>& played, Index sm) {
    const Box lane = l.lane_of(sm);
    const float height = lane.h() / static_cast<float>(launch.slots());
    std::vector<bool> other(static_cast<std::size_t>(launch.slots()), false);  // so that neighbours can be told apart
    for (const GanttStay& s : launch.on_sm(sm)) {
        const float y = lane.y0 + static_cast<float>(s.slot) * height, x0 = l.x(s.from), x1 = l.x(s.to);
        const auto slot = static_cast<std::size_t>(s.slot);
        l.canvas.fill({x0, y, std::max(x0 + 1, x1 - (x1 - x0 > l.px(6) ? l.px(1) : 0)), y + height},
                      shade(l, played[static_cast<std::size_t>(s.block)], other[slot]));
        other[slot] = !other[slot];
    }
}

/// Draws the number of thread blocks on the SM as a shade, where there is no room to draw each block.
void draw_companies(const SmLanes& l, const GanttLaunch& launch, const std::vector<bool>& played, Index sm) {
    for (const GanttCompany& c : launch.companies[static_cast<std::size_t>(sm)]) {
        const float share = static_cast<float>(c.blocks) / static_cast<float>(launch.slots());
        const Box lane = l.lane_of(sm);
        l.canvas.fill({l.x(c.from), lane.y0, std::max(l.x(c.from) + 1, l.x(c.to)), lane.y1},
                      Theme::mixed(l.theme().panel, l.theme().ink, 0.1f + 0.26f * share));
    }
    const ImU32 light = Theme::faded(l.theme().ink, 0.45f / static_cast<float>(launch.slots()));
    for (const GanttStay& s : launch.on_sm(sm))
        if (played[static_cast<std::size_t>(s.block)])
            l.canvas.fill({l.x(s.from), l.lane_of(sm).y0, l.x(s.to), l.lane_of(sm).y1}, light);
}

void draw_launch(const SmLanes& l, const GanttLaunch& launch, Index which) {
    if (launch.stays.empty()) {
        l.canvas.fill({l.x(launch.begin), l.box.y0, l.x(launch.to), l.box.y1}, shade(l, false, which % 2 == 1));
        return;
    }
    std::vector<bool> played(launch.stays.size(), false);
    for (const Placement& p : l.run.schedule().placements_of(which)) played[static_cast<std::size_t>(p.block)] = true;
    const bool one_by_one = l.lane() / static_cast<float>(launch.slots()) >= l.px(1.5f);
    for (Index sm = 0; sm < l.gantt().sms_used(); sm += l.every)
        one_by_one ? draw_stays(l, launch, played, sm) : draw_companies(l, launch, played, sm);
    // Frames the thread block that the SM in focus works on.
    const auto focus = static_cast<std::size_t>(l.shown.view.sm);
    const auto& sms = l.run.moment().sms;
    if (l.is_rival() || focus >= sms.size() || !sms[focus].block || sms[focus].block->launch != which) return;
    const GanttStay* stay = launch.stay_of(sms[focus].block->block);
    if (!stay || stay->sm % l.every != 0) return;
    const Box lane = l.lane_of(stay->sm);
    const float height = one_by_one ? lane.h() / static_cast<float>(launch.slots()) : lane.h();
    const float y = one_by_one ? lane.y0 + static_cast<float>(stay->slot) * height : lane.y0;
    l.canvas.outline(Box{l.x(stay->from), y, l.x(stay->to), y + height}.grown(l.px(1)), l.theme().highlight, l.px(2));
}

/// Draws the launches. Where there are several, marks where each begins, and names it where there is room.
void draw_launches(const SmLanes& l) {
    const Theme& t = l.theme();
    const auto& launches = l.gantt().launches();
    for (std::size_t k = 0; k < launches.size(); ++k) draw_launch(l, launches[k], static_cast<Index>(k));
    if (launches.size() == 1) return;
    float free_from = l.box.x0;
    for (const GanttLaunch& launch : launches) {
        const float x = l.x(launch.from);
        l.canvas.line({x, l.box.y0}, {x, l.box.y1}, t.ink, l.px(1));
        const std::string& name = launch.time.kernel;
        const Box at = {x + l.px(4), l.box.y0 + l.px(2), x + l.px(4) + Canvas::width(t.small_text, name),
                        l.box.y0 + l.px(2) + Canvas::height(t.small_text)};
        if (at.x0 < free_from || at.x1 > l.x(launch.to)) continue;
        l.canvas.text_on_patch(t.small_text, at, t.ink, t.panel, {name});
        free_from = at.x1;
    }
}

/// Names of some SMs, left of their lanes.
void draw_names(const SmLanes& l, float left) {
    const Theme& t = l.theme();
    const float line = Canvas::height(t.small_text);
    const auto step = std::max<Index>(1, static_cast<Index>(std::ceil(1.5f * line / l.lane())));
    for (Index k = 0; k < l.count(); k += step) {
        const float y = l.box.y0 + (static_cast<float>(k) + 0.5f) * l.lane();
        if (y + line / 2 > l.box.y1 + line) break;
        l.canvas.text_in(t.small_text, {left, y - line / 2, l.box.x0 - l.px(6), y + line / 2}, t.dim_ink,
                         message("sm.name", std::to_string(k * l.every)), Align::right);
    }
}

/// Two columns of squares, black and white, where the run has ended.
void draw_finish(const SmLanes& l) {
    const float side = l.px(4), x = l.x(l.gantt().us());
    const ImU32 light = l.theme().ink, dark = l.theme().panel;
    for (int row = 0; l.box.y0 + static_cast<float>(row) * side < l.box.y1; ++row)
        for (int column = 0; column < 2; ++column) {
            const float y = l.box.y0 + static_cast<float>(row) * side, left = x + static_cast<float>(column) * side;
            l.canvas.fill({left, y, left + side, std::min(y + side, l.box.y1)}, (row + column) % 2 == 0 ? light : dark);
        }
}

void draw_playhead(const SmLanes& l) {
    const Theme& t = l.theme();
    const double now = l.now();
    const float x = std::round(l.x(now)), r = l.px(5);
    const Box later = {x, l.box.y0, l.x(l.gantt().us()), l.box.y1};
    l.canvas.fill(l.ahead ? later : later.grown(l.px(3)), l.ahead ? Theme::faded(t.panel, 0.45f) : t.panel);
    l.canvas.line({x, l.box.y0 - l.px(2)}, {x, l.box.y1 + l.px(2)}, t.highlight, l.px(2));
    l.canvas.triangle({x - r, l.box.y0 - l.px(7)}, {x + r, l.box.y0 - l.px(7)}, {x, l.box.y0}, t.highlight);
}

/// Draws the share of all slots that are taken, over time, below the lanes. SMs that are not drawn count, too.
void draw_places(const SmLanes& l, Box area) {
    const Theme& t = l.theme();
    l.canvas.text_in(t.small_text, area.cut_top(Canvas::height(t.small_text) + l.px(2)), t.dim_ink, places_title());
    const auto columns = static_cast<std::size_t>(whole(area.w() / l.px(2), 1, 4000));
    const std::vector<double> share = l.gantt().taken(columns, l.us);
    const float width = area.w() / static_cast<float>(columns);
    l.canvas.outline(area, t.faint);
    for (std::size_t k = 0; k < columns; ++k) {
        const float x = area.x0 + static_cast<float>(k) * width;
        const float height = area.h() * static_cast<float>(std::min(1.0, share[k]));
        if (!l.ahead && x > l.x(l.now())) break;
        if (height > 0) l.canvas.fill({x, area.y1 - height, x + width, area.y1}, t.bus);
    }
}

void drag_through_time(const SmLanes& l) {
    const char* place = l.is_rival() ? "rival-gantt" : "gantt";
    ImGui::SetCursorScreenPos(l.box.min());
    hit_area(place, {l.box.w(), l.box.h()});
    l.screen.place(place);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const double us = l.us * static_cast<double>((mouse.x - l.box.x0) / l.box.w());
    if (ImGui::IsItemActive()) {
        l.shown.playback.pause();
        l.shown.playback.seek(l.shown.session.position_at(us * 1e-6, l.is_rival()));
    }
    if (!hovered(l.box) || us < 0 || us >= l.gantt().us() || (!l.ahead && us > l.now())) return;
    const Index sm = whole(std::floor((mouse.y - l.box.y0) / l.lane()), 0, l.count() - 1) * l.every;
    for (const GanttLaunch& launch : l.gantt().launches())
        if (us < launch.to) return tooltip(about_gantt(l.run, launch, sm, us));
}

/// Round times, below the lanes.
void draw_axis(const SmLanes& l) {
    const Theme& t = l.theme();
    const float y = l.box.y1 + l.px(3);
    const int most = std::max(1, static_cast<int>(l.box.w() / l.px(90)));
    for (const TimeTick& tick : time_ticks(l.us, most)) {
        const float x = l.x(tick.us), half = Canvas::width(t.small_text, tick.text) / 2;
        l.canvas.line({x, y}, {x, y + l.px(4)}, t.dim_ink, l.px(1));
        l.canvas.text(t.small_text, {std::min(x - half, l.box.x1 + l.px(12) - 2 * half), y + l.px(5)}, t.dim_ink,
                      tick.text);
    }
}

/// The parts of a step's time, as one bar.
void draw_step(const Shown& shown, const Screen& screen, const Canvas& c, const Box& area) {
    const Theme& t = screen.theme;
    const StepParts step = step_parts(*shown.session.run());
    Box bar = area;
    c.text_in(t.small_text, bar.cut_top(Canvas::height(t.small_text) + c.px(3)), t.ink, step.title);
    float x = bar.x0, light = 0.62f;
    for (const StepPart& part : step.parts) {
        const float right = x + bar.w() * static_cast<float>(part.cycles / step.cycles);
        const Box b = {x, bar.y0, std::max(x, right - 1), bar.y1};
        const ImU32 colour = Theme::mixed(t.panel, t.ink, part.waits ? 0.16f : light);
        c.fill(b, colour);
        if (part.waits) c.hatch(b, t.dim_ink, c.px(6));
        c.text_on_patch(t.small_text, {b.x0 + c.px(4), b.y0, b.x1 - c.px(2), b.y1},
                        part.waits ? t.ink : Theme::ink_on(colour), part.waits ? t.panel : colour,
                        part_text(step, part), Align::centre);
        if (hovered(b)) tooltip(about_part(step, part));
        x = right, light = part.waits ? light : light - 0.08f;
    }
}

/// Where the drawing ends, and out of how many SMs one is drawn.
struct Drawn {
    float bottom;
    Index every;
};
Drawn draw_run(Shown& shown, Screen& screen, Run& run, Box area, double us, float names) {
    const Theme& t = screen.theme;
    const Canvas c(t);
    const bool races = shown.session.rival();
    const bool tells_the_end = !shown.view.hide_ahead || run.tick() == run.ticks();
    if (races)
        c.text_in(t.text, area.cut_top(Canvas::height(t.text) + c.px(14)), t.ink, gantt_title(run, tells_the_end));
    if (area.h() < c.px(24) || area.w() < names + c.px(24)) return {area.y0, 1};
    SmLanes l{shown, screen, run, c, {area.x0 + names, area.y0, area.x1, area.y1}, us};
    const auto used = static_cast<float>(run.gantt().sms_used());
    const bool places = area.h() > c.px(120);
    const float below = places ? Canvas::height(t.small_text) + c.px(20) : 0;
    l.box.y1 = std::min(area.y1 - below, l.box.y0 + used * c.px(34));
    l.ahead = tells_the_end;
    l.every = std::max<Index>(1, static_cast<Index>(std::ceil(used * c.px(1.5f) / l.box.h())));
    c.hatch({l.box.x0, l.box.y0, l.x(run.gantt().us()), l.box.y1}, t.faint, c.px(6));
    draw_launches(l);
    if (places) draw_places(l, {l.box.x0, l.box.y1 + c.px(6), l.box.x1, l.box.y1 + below});
    draw_playhead(l);
    if (races && l.ahead) draw_finish(l);
    draw_names(l, area.x0);
    drag_through_time(l);
    return {l.box.y1 + below, l.every};
}

}  // namespace

void panel(Shown& shown, Derived& derived, Screen& screen) {
    const Theme& t = screen.theme;
    const Canvas c(t);
    if (has_lanes(shown)) {
        draw_lane_tabs(shown, screen);
        if (shown.view.lanes != Lanes::hidden) return lanes_panel(shown, derived, screen);
    }
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    if (room.x < 40 || room.y < 40) return;
    Box area = {at.x, at.y, at.x + room.x, at.y + room.y};
    std::vector<Run*> runs;
    double us = 0;
    for (Run* run : {shown.session.run(), shown.session.rival()}) {
        if (!run) continue;
        if (run->gantt().empty()) {
            c.paragraph(t.text, at, t.ink, why_no_time(*run), room.x, 6);
            return;
        }
        runs.push_back(run);
        us = std::max(us, run->gantt().us());
    }
    if (area.h() > c.px(260)) {
        const Sentence finding = {{gantt_headline(shown.session)}};
        // In a race in a hall the scoreboard takes the room of the reason.
        if (t.in_a_hall() && shown.session.rival())
            draw_finding(c, area.cut_top(finding_height(t, area)), finding);
        else
            draw_words(c, area, finding, gantt_reason(shown.session));
    }
    const float scores = scoreboard_height(t);
    if (runs.size() == 2 && area.h() > scores + c.px(200)) draw_scoreboard(shown, screen, area.cut_top(scores));
    const Box note = {area.x0, area.y1 - 2 * t.small_text->FontSize - c.px(2), area.x1, area.y1};
    const bool noted = area.h() > c.px(160);
    if (noted) area.y1 = note.y0;
    const float names = Canvas::width(t.small_text, message("sm.name", 1000)) + c.px(8);
    area.x1 -= c.px(12);
    area.y0 += c.px(8);
    const bool steps = runs.size() == 1 && area.h() > c.px(240);
    Box step = {area.x0, area.y1 - c.px(44), area.x1, area.y1};
    if (steps) area.y1 = step.y0 - c.px(22);
    const float axis = Canvas::height(t.small_text) + c.px(12), gap = c.px(10);
    float y = area.y0;
    Index every = 1;
    for (std::size_t k = 0; k < runs.size(); ++k) {
        const float h = (area.y1 - axis - y) / static_cast<float>(runs.size() - k) - (k + 1 < runs.size() ? gap : 0);
        const Drawn drawn = draw_run(shown, screen, *runs[k], {area.x0, y, area.x1, y + h}, us, names);
        every = drawn.every, y = drawn.bottom + gap;
    }
    y -= gap;
    draw_axis(SmLanes{shown, screen, *runs[0], c, {area.x0 + names, y, area.x1, y}, us});
    if (steps) draw_step(shown, screen, c, step.moved(0, std::min(0.f, y + axis + c.px(14) - step.y0)));
    if (!noted) return;
    c.paragraph(t.small_text, note.min(), t.dim_ink, gantt_note(shown.session, every), note.w(), 2);
}

}  // namespace tilescope::gui::gantt
