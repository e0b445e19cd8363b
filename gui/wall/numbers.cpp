// What stays on the screen beside the wall: four numbers, the bytes so far, the heads.

#include <algorithm>
#include <cmath>

#include "gui/draw/items.hpp"
#include "gui/draw/traffic_bar.hpp"
#include "gui/wall/figure.hpp"
#include "show/stage/wall_text.hpp"
#include "show/stage/wall_traffic.hpp"

namespace tilescope::gui::wall {

float numbers_height(const Theme& t, std::size_t rows) {
    const float row = Canvas::height(t.figure) + Canvas::height(t.small_text) + t.px(8);
    return rows > 1 ? static_cast<float>(rows) * (row + t.px(10)) : row;
}

void draw_numbers(const WallFigure& f, Box area, std::size_t rows) {
    const Theme& t = f.theme();
    const std::vector<WallNumber> numbers = wall_numbers(f.run, f.wall, f.painters, f.focus);
    const std::size_t columns = (numbers.size() + rows - 1) / rows;
    const float w = area.w() / static_cast<float>(columns), h = area.h() / static_cast<float>(rows);
    const float big = Canvas::height(t.figure), small = Canvas::height(t.small_text);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        const float x = area.x0 + static_cast<float>(k % columns) * w;
        const float y = area.y0 + static_cast<float>(k / columns) * h;
        const Box first = {x, y, x + w - f.px(6), y + big};
        const float end = f.canvas.text_in(t.figure, first, t.ink, numbers[k].number) + f.px(4);
        if (end + Canvas::width(t.text, numbers[k].of) <= first.x1)
            f.canvas.text_in(t.text, {end, first.y0, first.x1, first.y1}, t.dim_ink, numbers[k].of);
        f.canvas.text_in(t.small_text, {x, first.y1, first.x1, first.y1 + small + f.px(8)}, t.dim_ink, numbers[k].what);
    }
}

namespace {

/// The bytes that the compared algorithm would move, where there is one.
std::optional<Bytes> ghost_of(const WallFigure& f) {
    const lab::Report* other = f.shown.session.counted(f.shown.view.compare);
    if (!other || f.shown.view.compare == f.run.algorithm().name) return std::nullopt;
    return other_bytes(f.run, *other);
}

/// Whether there is only one bar of bytes, with nothing below it; in a race, on both walls.
bool one_bar(const WallFigure& f) {
    const bool compares = f.shown.session.counted(f.shown.view.compare) != nullptr;
    for (const Run* run : {f.shown.session.run(), f.shown.session.rival()})
        if (run && (!run->has_whole_heads() || stores_scores(*run) ||
                    (compares && run->algorithm().name != f.shown.view.compare)))
            return false;
    return true;
}

/// The bars of SM traffic: `bar` is the run's, `below` another one below it.
struct Bars {
    const WallFigure& f;
    Box area, bar, below;
    double per_byte = 0;
    float down = 0;  ///< offset of the words; in a hall they are below their bars

    const Theme& theme() const { return f.theme(); }
    float x(double bytes) const { return bar.x0 + static_cast<float>(bytes * per_byte); }
    void say(const Box& b, ImU32 colour, const std::string& said) const {
        const float x = theme().in_a_hall() ? area.x0 : bar.x1 + f.px(8);
        f.canvas.text_in(theme().text, {x, b.y0 + down, area.x1, b.y1 + down}, colour, said);
    }
};

Bars lay_out_bars(const WallFigure& f, const Box& area, const std::vector<std::string>& said, Bytes ghost) {
    const Theme& t = f.theme();
    // In a race, both walls have one scale.
    Bytes largest = std::max(ghost, Bytes{1});
    float label = 0;
    for (const Run* run : {f.shown.session.run(), f.shown.session.rival()}) {
        if (!run) continue;
        const Bytes all = run->hbm(run->ticks());
        largest = std::max(largest, all);
        label = std::max(label, Canvas::width(t.text, traffic_text(*run, all, all)) + f.px(10));
    }
    for (const std::string& words : said) label = std::max(label, Canvas::width(t.text, words) + f.px(10));
    if (t.in_a_hall()) label = 0;
    const float room = std::max(f.px(10), area.w() - label), line = Canvas::height(t.text) + f.px(4);
    const Box bar = {area.x0, area.y0, area.x0 + room, area.y0 + line - f.px(2)};
    const float next = t.in_a_hall() ? 2 * line + f.px(6) : line;
    return {f,
            area,
            bar,
            {bar.x0, bar.y0 + next, bar.x1, bar.y1 + next - f.px(4)},
            static_cast<double>(room) / static_cast<double>(largest),
            t.in_a_hall() ? line : 0};
}

/// Draws how much of the whole run is shown. One scale would not suit both, so the lower bar is the whole run, and a
/// wedge leads from the upper bar to its share of the lower one.
void draw_whole_run(const Bars& b, const std::string& words) {
    const WallFigure& f = b.f;
    const Theme& t = f.theme();
    const Bytes played = f.run.hbm(f.run.ticks()), all = f.run.counted().counters.hbm();
    const double share = static_cast<double>(played) / static_cast<double>(all);
    Box bar = b.below;
    if (!t.in_a_hall()) bar.y0 += f.px(5);
    const float end = bar.x0 + std::max(f.px(2), static_cast<float>(share) * bar.w());
    const ImVec2 drawn_out[] = {
        {bar.x0, b.bar.y1}, {b.x(static_cast<double>(played)), b.bar.y1}, {end, bar.y0}, {bar.x0, bar.y0}};
    f.canvas.polygon(drawn_out, Theme::mixed(t.panel, t.ink, 0.13f));
    f.canvas.fill({bar.x0, bar.y0, end, bar.y1}, t.ink);
    f.canvas.dashed(bar, t.dim_ink);
    b.say(b.below, t.ink, words);
}

/// Draws an outline below the bar, under its bytes of scores that go to HBM and come back.
void draw_stored(const Bars& b, const StoredBytes& stored) {
    const Theme& t = b.theme();
    const Box box = {b.x(static_cast<double>(stored.from)), b.below.y0, b.x(static_cast<double>(stored.to)),
                     b.below.y1 + b.f.px(4)};
    b.f.canvas.outline(box, t.hue(Meaning::score), b.f.px(2));
    if (Canvas::width(t.small_text, stored.text) <= box.w() - b.f.px(8))
        b.f.canvas.text_in(t.small_text, box, t.ink, stored.text, Align::centre);
    else
        b.say(b.below, t.ink, stored.text);
}

}  // namespace

/// In a hall the words have lines of their own below the bars.
float bytes_height(const WallFigure& f) {
    const Theme& t = f.theme();
    const float line = Canvas::height(t.text), bars = one_bar(f) ? 1 : 2;
    return t.in_a_hall() ? bars * (2 * line + t.px(12)) : bars * (line + t.px(6));
}

void draw_bytes(const WallFigure& f, Box area) {
    const Theme& t = f.theme();
    const auto ghost = ghost_of(f);
    const StoredBytes stored = ghost ? StoredBytes{} : stored_bytes(f.run);
    const std::string words = traffic_text(f.run, f.run.hbm(f.tick()), f.run.hbm(f.run.ticks()));
    const std::string ghost_words = ghost ? traffic_of_other_text(*ghost, f.shown.view.compare) : "";
    const std::string whole_words = f.run.has_whole_heads() ? "" : whole_run_text(f.run);
    const Bars b = lay_out_bars(f, area, {words, ghost_words, whole_words, stored.text}, ghost.value_or(0));
    draw_traffic_bar(f.canvas, b.bar, b.per_byte, sm_traffic_parts(t, f.run), f.run.hbm(f.run.ticks()));
    const bool whole = f.run.has_whole_heads();
    if (!whole) draw_whole_run(b, whole_words);
    b.say(b.bar, t.ink, words);
    if (!whole) return;
    if (stored.to > 0) draw_stored(b, stored);
    if (!ghost) return;
    Box below = b.below;
    below.x1 = b.x(static_cast<double>(*ghost));
    f.canvas.dashed(below, t.dim_ink);
    b.say(below, t.dim_ink, ghost_words);
}

float heads_height(const Theme& t) { return Canvas::height(t.text) + t.px(6); }

void look_at_head(WallFigure& f, Index head) {
    const auto& sms = f.run.moment().sms;
    const auto at_work = std::find_if(sms.begin(), sms.end(),
                                      [&](const SmState& sm) { return sm.block && f.run.head_of(*sm.block) == head; });
    if (at_work != sms.end()) f.shown.view.sm = at_work->sm;
}

void draw_heads(WallFigure& f, Box area) {
    const Theme& t = f.theme();
    const std::vector<HeadState> heads = heads_of(f.run);
    const auto n = static_cast<Index>(heads.size()), all = f.run.experiment().problem.batch_heads();
    const Box line = {area.x0, area.y0, area.x1, area.y1};
    const float x0 = f.canvas.text_in(t.text, line, t.ink, head_text(f.run, f.wall)) + f.px(10);
    const float side = std::min(f.px(16), std::max(f.px(4), (area.x1 - x0) / static_cast<float>(all)));
    for (Index h = 0; h < all; ++h) {
        if (h >= n) {
            const float x = x0 + static_cast<float>(h) * side, y = area.centre().y - side / 2;
            if (x + side <= area.x1) f.canvas.outline({x, y, x + side - f.px(2), y + side - f.px(2)}, t.faint);
            continue;
        }
        const HeadState& s = heads[static_cast<std::size_t>(h)];
        const float x = x0 + static_cast<float>(h) * side;
        if (x + side > area.x1) break;
        const Box b = {x, area.centre().y - side / 2, x + side - f.px(2), area.centre().y + side / 2 - f.px(2)};
        const float done = s.all > 0 ? static_cast<float>(s.done) / static_cast<float>(s.all) : 0;
        const float busy = s.all > 0 ? static_cast<float>(s.done + s.busy) / static_cast<float>(s.all) : 0;
        f.canvas.fill({b.x0, b.y1 - b.h() * busy, b.x1, b.y1}, Theme::mixed(t.panel, t.hue(Meaning::score), 0.6f));
        f.canvas.fill({b.x0, b.y1 - b.h() * done, b.x1, b.y1}, t.bus);
        f.canvas.outline(b, h == f.wall.head() ? t.ink : t.bus, h == f.wall.head() ? f.px(2) : 1);
        const std::string place = f.prefix + "head-" + std::to_string(h + 1);
        ImGui::SetCursorScreenPos(b.min());
        const bool pressed = hit_area(place, {b.w(), b.h()});
        f.screen.place(place);
        if (hovered(b)) tooltip(about_head(f.run, h, s));
        if (pressed) look_at_head(f, h);
    }
}

}  // namespace tilescope::gui::wall
