#include "gui/gantt/lanes.hpp"

#include <algorithm>
#include <cmath>

#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/message.hpp"
#include "gui/draw/whole.hpp"
#include "gui/draw/widgets.hpp"
#include "gui/draw/words.hpp"
#include "gui/panels.hpp"
#include "show/stage/lanes_text.hpp"

namespace tilescope::gui::gantt {
namespace {

/// One view's rows, from top to bottom.
struct Rows {
    const Theme& t;
    const Canvas& c;
    const LaneView& view;
    Box box;     ///< of all rows
    float line;  ///< height of a row
    Index cycle;
    bool with_bus = true;  ///< in a hall, of four kernels, the bus is left out

    float x(double at) const {
        return box.x0 + box.w() * static_cast<float>(std::clamp(at, 0.0, view.cycles()) / view.cycles());
    }
    Box row(float number) const {
        const float y = box.y0 + number * line;
        return {box.x0, y, box.x1, y + line - t.px(2)};
    }
};

ImU32 of_group(const Theme& t, const LaneView& view, std::uint32_t lane) { return t.series(view.group_of(lane) % 3); }

/// Products have the colour of their warpgroup.
ImU32 colour_of(const Rows& r, const LaneSegment& s) {
    if (s.doing == LaneDoing::product) return of_group(r.t, r.view, s.lane);
    if (s.doing == LaneDoing::load || s.doing == LaneDoing::busy) return r.t.series(7);
    if (s.doing == LaneDoing::wait) return r.t.panel;
    return r.t.series(s.what == "exp_minus" ? 6 : s.what == "update_row_max" ? 3 : s.what == "scale_rows" ? 4 : 5);
}

std::string words_in(const Rows& r, const LaneSegment& s) {
    if (s.doing != LaneDoing::wait) return lane_word(s);
    const bool named = s.awaited != Awaited::turn && s.ended_by != no_segment;
    return message("lanes_shown.for", named ? lane_word(r.view.segments()[s.ended_by]) : awaited_word(s.awaited));
}

void draw_segment(const Rows& r, const LaneSegment& s, const Box& row) {
    const float low = s.doing == LaneDoing::busy ? row.h() * 0.25f : 0;
    const Box b = {r.x(s.from), row.y0 + low, r.x(s.doing == LaneDoing::load ? s.sent : s.to), row.y1 - low};
    if (b.w() <= 0) return;
    const ImU32 colour = colour_of(r, s);
    const bool waits = s.doing == LaneDoing::wait;
    r.c.fill({b.x0, b.y0, std::max(b.x0 + 1, b.x1 - 1), b.y1}, colour);
    if (waits) r.c.hatch(b, s.awaited == Awaited::turn ? r.t.highlight : r.t.dim_ink, r.t.px(6));
    const std::string words = words_in(r, s);
    const ImFont* const font = r.t.small_text;
    if (Canvas::width(font, words) + r.t.px(4) <= b.w() && Canvas::height(font) <= b.h() + r.t.px(2))
        r.c.text_on_patch(r.t.small_text, b, waits ? r.t.dim_ink : Theme::ink_on(colour), colour, {words},
                          Align::centre);
}

std::string name_of(const LaneView& view, const LaneRow& row) {
    if (row.kind == LaneRow::Kind::bus) return message("lanes.bus");
    return row.kind == LaneRow::Kind::tensor_cores ? message("lanes.tensor_cores") : view.name_of(row.lane);
}

void draw_name(const Rows& r, float number, float left, const std::string& name) {
    const Box row = r.row(number);
    r.c.text_in(r.t.small_text, {left, row.y0, r.box.x0 - r.t.px(6), row.y1}, r.t.dim_ink, name, Align::right);
}

/// Arrows from what ended a warpgroup's wait to where it goes on.
void draw_arrows(const Rows& r, const std::vector<const LaneRow*>& rows) {
    const auto number = [&](LaneRow::Kind kind, std::uint32_t lane) {
        for (std::size_t k = 0; k < rows.size(); ++k)
            if (rows[k]->kind == kind && (kind != LaneRow::Kind::warpgroup || rows[k]->lane == lane))
                return r.row(static_cast<float>(k));
        return Box{};
    };
    for (const LaneSegment& s : r.view.segments()) {
        if (s.doing != LaneDoing::wait || r.view.group_of(s.lane) < 0 || s.ended_by == no_segment) continue;
        if (s.to < 0 || s.to > r.view.cycles()) continue;
        const LaneSegment& by = r.view.segments()[s.ended_by];
        const Box to = number(LaneRow::Kind::warpgroup, s.lane);
        const Box from = number(by.doing == LaneDoing::product ? LaneRow::Kind::tensor_cores
                                : by.doing == LaneDoing::load  ? LaneRow::Kind::bus
                                                               : LaneRow::Kind::warpgroup,
                                by.lane);
        const bool down = from.y0 < to.y0;
        const ImVec2 tip = {r.x(s.to), down ? to.y0 : to.y1};
        r.c.line({r.x(by.to), down ? from.y1 : from.y0}, tip, r.t.ink, r.t.px(1));
        r.c.arrow_head(tip, down, r.t.ink);
    }
}

void draw_turns(const Rows& r, const LaneView::Baton& baton, float number) {
    const std::vector<LaneView::Turn>& turns = baton.turns;
    const Box row = r.row(number);
    for (std::size_t k = 0; k < turns.size(); ++k) {
        const double to = k + 1 < turns.size() ? turns[k + 1].at : r.view.cycles();
        const Box b = {r.x(turns[k].at), row.y0 + row.h() * 0.25f, r.x(to), row.y1 - row.h() * 0.25f};
        if (b.w() > 0) r.c.fill({b.x0, b.y0, b.x1 - 1, b.y1}, of_group(r.t, r.view, turns[k].lane));
    }
}

/// The slots of the rings at the cursor, as beads.
void draw_beads(const Rows& r, const Box& area) {
    const float each = area.w() / static_cast<float>(std::max<std::size_t>(1, r.view.slots().size()));
    const float radius = std::min(area.h() * 0.3f, r.t.px(10));
    for (std::size_t k = 0; k < r.view.slots().size(); ++k) {
        const LaneSlot& slot = r.view.slots()[k];
        const auto cycle = static_cast<double>(r.cycle);
        const SlotState state = r.view.state_at(slot, cycle);
        const SlotStay* const stay = slot.stay_at(cycle);
        const float left = area.x0 + static_cast<float>(k) * each;
        const ImVec2 at = {left + radius + r.t.px(2), (area.y0 + area.y1) / 2};
        if (state == SlotState::full || state == SlotState::in_use)
            r.c.circle(at, radius, state == SlotState::in_use ? r.t.highlight : r.t.series(7));
        if (state == SlotState::loading) r.c.circle(at, radius * 0.4f, r.t.series(7));
        r.c.circle_outline(at, radius, r.t.ink, r.t.px(1));
        const std::string name = message("lane.slot", std::to_string(slot.slot), slot.ring);
        r.c.text_in(r.t.small_text, {at.x + radius + r.t.px(4), area.y0, left + each, area.y1}, r.t.ink,
                    state == SlotState::empty
                        ? message("lane.slot_without", name, slot_word(state))
                        : message("lane.slot_with", name, tile_word(stay->what, stay->number), slot_word(state)));
    }
}

std::vector<const LaneRow*> drawn_rows(const LaneView& view, bool with_bus) {
    std::vector<const LaneRow*> rows;
    for (const LaneRow& row : view.rows())
        if (row.kind != LaneRow::Kind::loads && (with_bus || row.kind != LaneRow::Kind::bus)) rows.push_back(&row);
    return rows;
}
float rows_of(const LaneView& view, bool with_bus) {
    return static_cast<float>(drawn_rows(view, with_bus).size() + view.batons().size());
}

void draw_view(const Rows& r, float left) {
    const std::vector<const LaneRow*> rows = drawn_rows(r.view, r.with_bus);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const auto number = static_cast<float>(k);
        draw_name(r, number, left, name_of(r.view, *rows[k]));
        for (const std::uint32_t s : rows[k]->segments) draw_segment(r, r.view.segments()[s], r.row(number));
    }
    for (std::size_t k = 0; k < r.view.batons().size(); ++k) {
        const auto number = static_cast<float>(rows.size() + k);
        draw_name(r, number, left, turn_word(r.view, r.view.batons()[k]));
        draw_turns(r, r.view.batons()[k], number);
    }
    draw_arrows(r, rows);
}

void draw_cycles(const Rows& r, float y) {
    const double cycles = r.view.cycles();
    double apart = 100;
    for (const double each : {100.0, 200.0, 250.0, 500.0, 1000.0, 2000.0, 5000.0})
        if (apart = each; r.x(each) - r.box.x0 > r.t.px(60)) break;
    for (double at = 0; at <= cycles; at += apart) {
        const std::string words = message("lanes_shown.cycle", static_cast<Index>(at));
        r.c.line({r.x(at), y}, {r.x(at), y + r.t.px(4)}, r.t.dim_ink, r.t.px(1));
        r.c.text(r.t.small_text, {r.x(at) - Canvas::width(r.t.small_text, words) / 2, y + r.t.px(5)}, r.t.dim_ink,
                 words);
    }
}

/// Draws the cursor over all views, and lets the mouse drag it.
void draw_cursor(Shown& shown, Screen& screen, const Rows& r, const Box& all) {
    const float x = std::round(r.x(static_cast<double>(r.cycle)));
    r.c.line({x, all.y0}, {x, all.y1}, r.t.highlight, r.t.px(2));
    ImGui::SetCursorScreenPos(all.min());
    hit_area("lanes", {all.w(), all.h()});
    screen.place("lanes");
    if (!ImGui::IsItemActive()) return;
    const double share = static_cast<double>((ImGui::GetIO().MousePos.x - all.x0) / all.w());
    shown.view.cycle = static_cast<Index>(std::clamp(share, 0.0, 1.0) * r.view.cycles());
}

void tell_under_mouse(const Rows& r) {
    const std::vector<const LaneRow*> rows = drawn_rows(r.view, r.with_bus);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        if (!hovered(r.row(static_cast<float>(k)))) continue;
        const double at = static_cast<double>((mouse.x - r.box.x0) / r.box.w()) * r.view.cycles();
        for (const std::uint32_t n : rows[k]->segments)
            if (const LaneSegment& s = r.view.segments()[n]; s.at(at)) {
                const std::string words = s.doing == LaneDoing::wait
                                              ? message("lane.sentence", lane_clause(r.view, s.lane, at))
                                              : message("lanes_shown.about_segment", words_in(r, s),
                                                        static_cast<Index>(s.from), static_cast<Index>(s.to));
                return tooltip(words);
            }
    }
}

/// What colours stand for, in these colours.
void draw_legend(const Rows& r, ImVec2 at, float width) {
    std::vector<Canvas::Piece> pieces;
    for (const std::uint32_t lane : r.view.groups())
        pieces.push_back({message("lanes_figure.products_of", r.view.name_of(lane)), of_group(r.t, r.view, lane)});
    std::vector<std::string> told;
    for (const LanePart& p : r.view.parts()) {
        if (p.doing != LaneDoing::work) continue;
        const LaneSegment like{p.doing, 0, p.what, 0, 0, 0, 0, 0, 0, Awaited::other};
        const std::string word = lane_word(p.doing, p.what);
        if (std::find(told.begin(), told.end(), word) != told.end()) continue;
        told.push_back(word);
        pieces.push_back({word, colour_of(r, like)});
    }
    pieces.push_back({message("lanes.busy"), r.t.series(7)});
    pieces.push_back({message("lanes_shown.hatched"), r.t.dim_ink});
    for (std::size_t k = 0; k + 1 < pieces.size(); ++k) pieces[k].text += " · ";
    r.c.paragraph(r.t.small_text, at, pieces, width, 1);
}

std::string said_at(std::span<const LaneView> views, Index cycle) {
    const std::string said = lane_sentence(views.back(), static_cast<double>(cycle));
    return views.size() == 1 ? said : message("lanes_shown.of_last", said);
}

std::string titled(const LaneView& view, const std::string& title) {
    const LaneShares s = view.shares();
    return message("lanes_shown.title", title, static_cast<Index>(std::llround(view.step())),
                   share_word(s.tensor_cores), share_word(s.cuda_cores));
}

}  // namespace

bool has_lanes(const Shown& shown) {
    const Run* const run = shown.session.run();
    return run && !shown.session.rival() && lab::has_timed_lanes(run->experiment());
}

void draw_lane_tabs(Shown& shown, Screen& screen) {
    struct LaneTab {
        Lanes lanes;
        const char *name, *place;
    };
    constexpr LaneTab tabs[] = {{Lanes::hidden, "lanes_shown.sms", "lanes-hidden"},
                                {Lanes::alone, "lanes_shown.lanes", "lanes-alone"},
                                {Lanes::four, "lanes_shown.four", "lanes-four"}};
    for (const LaneTab& t : tabs) {
        if (t.lanes != Lanes::hidden) ImGui::SameLine(0, screen.theme.px(14));
        if (tab(screen, t.place, message(t.name), shown.view.lanes == t.lanes)) shown.view.lanes = t.lanes;
    }
}

void lanes_panel(Shown& shown, Derived& derived, Screen& screen) {
    const Theme& t = screen.theme;
    const Canvas c(t);
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    if (room.x < 40 || room.y < 40) return;
    const lab::Experiment& e = shown.session.run()->experiment();
    const std::span<const LaneView> views = derived.lanes.of(e, shown.view.lanes, shown.session.version());
    const Index cycle = cycle_of(shown.view, views);
    Box area = {at.x, at.y, at.x + room.x - c.px(12), at.y + room.y};
    draw_words(c, area, {{said_at(views, cycle)}}, lane_finding(views.back()));
    const float small = Canvas::height(t.small_text), title = small + c.px(6), axis = small + c.px(10);
    const float names = Canvas::width(t.small_text, message("lanes.tensor_cores")) + c.px(10);
    const bool beads = views.size() == 1 && !views[0].slots().empty();
    const bool with_bus = !t.in_a_hall() || views.size() == 1;
    const float note = small + c.px(14) + (with_bus ? 2 * small + c.px(24) : 0),
                of_beads = beads ? small + c.px(14) : 0;
    float rows = 0;
    for (const LaneView& v : views) rows += rows_of(v, with_bus);
    const float left = area.h() - note - of_beads - axis - title * static_cast<float>(views.size());
    const float line = std::clamp(left / rows, c.px(7), c.px(44));
    Box all = {area.x0 + names, area.y0, area.x1, area.y0};
    for (std::size_t k = 0; k < views.size(); ++k) {
        const std::string name = derived.lanes.titles().empty() ? e.algorithm->name : derived.lanes.titles()[k];
        c.text_in(t.small_text, {area.x0, all.y1, area.x1, all.y1 + title}, t.ink, titled(views[k], name));
        const float top = all.y1 + title;
        const Box box = {all.x0, top, all.x1, top + line * rows_of(views[k], with_bus)};
        const Rows r{t, c, views[k], box, line, cycle, with_bus};
        draw_view(r, area.x0);
        tell_under_mouse(r);
        all.y1 = r.box.y1;
    }
    const Rows last{t, c, views.back(), all, line, cycle, with_bus};
    draw_cycles(last, all.y1);
    draw_cursor(shown, screen, last, all);
    float y = all.y1 + axis + c.px(8);
    if (beads) draw_beads(last, {area.x0, y, area.x1, y + of_beads});
    y += of_beads;
    draw_legend(last, {area.x0, y}, area.w());
    y += small + c.px(4);
    if (with_bus) c.paragraph(t.small_text, {area.x0, y}, t.dim_ink, message("lanes_shown.note"), area.w(), 2);
}

bool moves_cursor(Shown& shown, Derived& derived, Key key) {
    if (shown.view.stage != Stage::time || shown.view.lanes == Lanes::hidden || !has_lanes(shown)) return false;
    const auto views = derived.lanes.of(shown.session.run()->experiment(), shown.view.lanes, shown.session.version());
    const Index cycle = cycle_of(shown.view, views), last = static_cast<Index>(views[0].cycles());
    switch (key) {
        case Key::right:
            shown.view.cycle = next_cycle(views, cycle, 1);
            return true;
        case Key::left:
            shown.view.cycle = next_cycle(views, cycle, -1);
            return true;
        case Key::operation_on:
            shown.view.cycle = std::min(last, cycle + 1);
            return true;
        case Key::operation_back:
            shown.view.cycle = std::max<Index>(0, cycle - 1);
            return true;
        case Key::home:
            shown.view.cycle = 0;
            return true;
        case Key::end:
            shown.view.cycle = last;
            return true;
        default:
            return false;
    }
}

}  // namespace tilescope::gui::gantt
