// One row under the microscope: its scores as bars with m as a level, the weights below them, l and O.
#include <algorithm>
#include <cmath>

#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/whole.hpp"
#include "gui/draw/widgets.hpp"
#include "gui/panels.hpp"
#include "show/row_text.hpp"

namespace tilescope::gui::row {
namespace {

/// A value from low to high, from the bottom of a box to its top.
struct Scale {
    Box box;
    float low, high;
    float y(float v) const {
        const double at = std::isnan(v) ? low : std::clamp(v, low, high), least = low;
        return box.y1 - box.h() * static_cast<float>((at - least) / std::max(1e-20, high - least));
    }
};

Scale scale_of(const Box& box, const RowMoment& m, bool weights) {
    Scale s{box, 0, weights ? 1.f : 0.1f};
    const auto add = [&](float v) {
        if (std::isfinite(v)) s.low = std::min(s.low, v), s.high = std::max(s.high, v);
    };
    for (const RowKey& k : m.keys) {
        if (k.state == RowKey::State::known) add(weights ? k.weight : k.score);
    }
    if (!weights && m.has_m) add(m.m);
    if (!weights && m.overflows) add(1.1f * row_ceiling);
    return s;
}

/// Above it exponentials have no number.
void draw_ceiling(const Canvas& c, const Scale& s) {
    const Theme& t = c.theme();
    const float y = s.y(row_ceiling), line = Canvas::height(t.small_text);
    c.line({s.box.x0, y}, {s.box.x1, y}, t.bad, c.px(2));
    c.text_on_patch(t.small_text, {s.box.x0, y - line - c.px(2), s.box.x1, y - c.px(2)}, t.bad, t.panel,
                    {ceiling_text()}, Align::right);
}

/// Names of the key blocks above their bars.
void draw_blocks(const Canvas& c, const Box& line, const Wall& wall, const RowMoment& m) {
    const Theme& t = c.theme();
    const float per_key = line.w() / static_cast<float>(m.keys.size());
    for (Index j = 0; j < wall.cols(); ++j) {
        const Span keys = wall.col(j);
        const float x0 = line.x0 + static_cast<float>(keys.begin) * per_key,
                    x1 = x0 + static_cast<float>(keys.size) * per_key;
        const std::string name = row_block(j);
        if (Canvas::width(t.small_text, name) > x1 - x0) continue;
        const bool now =
            m.visit && m.visit->keys.size > 0 && m.visit->keys.begin >= keys.begin && m.visit->keys.begin < keys.end();
        c.text_in(t.small_text, {x0, line.y0, x1, line.y1}, now ? t.ink : t.dim_ink, name, Align::centre);
    }
}

/// The first of some keys that share a pixel, or the one of them with the largest value.
const RowKey& largest(std::span<const RowKey> keys, bool weights) {
    const auto size = [&](const RowKey& k) {
        return k.state == RowKey::State::known ? std::abs(weights ? k.weight : k.score) : -1.f;
    };
    return *std::max_element(keys.begin(), keys.end(),
                             [&](const RowKey& a, const RowKey& b) { return size(a) < size(b); });
}

void draw_bars(const Canvas& c, const Scale& s, const RowMoment& m, bool weights) {
    const Theme& t = c.theme();
    const std::span<const RowKey> keys = m.keys;
    const auto in_a_bar =
        static_cast<std::size_t>(whole(std::ceil(static_cast<float>(keys.size()) / s.box.w()), 1, 1 << 20));
    const float pitch = static_cast<float>(in_a_bar) * s.box.w() / static_cast<float>(keys.size());
    const float gap = pitch >= c.px(6) ? c.px(2) : 0;
    const ImU32 hue = t.hue(Meaning::score);
    for (std::size_t k = 0; k * in_a_bar < keys.size(); ++k) {
        const RowKey& key =
            largest(keys.subspan(k * in_a_bar, std::min(in_a_bar, keys.size() - k * in_a_bar)), weights);
        const float x = s.box.x0 + static_cast<float>(k) * pitch;
        const Box column = {x, s.box.y0, std::max(x + 1, x + pitch - gap), s.box.y1};
        if (key.state == RowKey::State::masked || key.state == RowKey::State::skipped) {
            c.hatch(column, t.faint, c.px(key.state == RowKey::State::skipped ? 4 : 7));
        } else if (key.state == RowKey::State::unread || (weights && !key.has_weight)) {
            c.dashed({column.x0, s.y(0) - c.px(8), column.x1, s.y(0)}, t.faint);
        } else {
            const float value = weights ? key.weight : key.score, y = s.y(value), zero = s.y(0);
            const Box bar = {column.x0, std::min(y, zero), column.x1, std::max(y, zero)};
            c.fill(bar, Theme::mixed(t.panel, hue, key.now ? 1.f : 0.55f));
            if (weights && key.was > key.weight) c.dashed({bar.x0, s.y(key.was), bar.x1, zero}, hue);
            if (!std::isfinite(value)) c.hatch(bar, t.bad, c.px(5));
            if (key.now && pitch >= c.px(5)) c.outline(bar, t.now);
            const std::string text = row_number(value);
            if (Canvas::width(t.small_text, text) > pitch) continue;
            const float line = Canvas::height(t.small_text), under = value < 0 ? bar.y1 : zero;
            c.text_in(t.small_text, {x, under + c.px(1), x + pitch, under + c.px(1) + line}, t.ink, text,
                      Align::centre);
        }
    }
    c.line({s.box.x0, s.y(0)}, {s.box.x1, s.y(0)}, t.dim_ink);
}

void draw_level(const Canvas& c, const Scale& s, const RowMoment& m) {
    if (!m.has_m || !std::isfinite(m.m)) return;
    const Theme& t = c.theme();
    const ImU32 hue = t.hue(Meaning::statistic);
    const float y = s.y(m.m), pitch = s.box.w() / static_cast<float>(m.keys.size());
    const float x = m.visit->keys.size > 0 ? s.box.x0 + static_cast<float>(m.visit->keys.begin) * pitch : s.box.x0;
    const bool jumps = std::isfinite(m.m_was) && m.m > m.m_was;
    c.line({jumps ? x : s.box.x0, y}, {s.box.x1, y}, hue, c.px(2));
    if (jumps) {
        c.line({s.box.x0, s.y(m.m_was)}, {x, s.y(m.m_was)}, hue, c.px(2));
        c.dashed({x, s.y(m.m_was)}, {x, y}, hue);
    }
    const float line = Canvas::height(t.text);
    c.text_on_patch(t.text, {s.box.x0, y + c.px(3), s.box.x1, y + c.px(3) + line}, hue, t.panel, {row_m(m.m)},
                    Align::right);
}

/// What was, as a dashed ghost; what is left of it; what came.
void draw_sum(const Canvas& c, Box box, const RowMoment& m) {
    const Theme& t = c.theme();
    const ImU32 hue = t.hue(Meaning::statistic);
    if (!m.has_sum) return;
    if (!std::isfinite(m.sum)) return void(c.text_in(t.title, box, t.bad, row_number(m.sum)));
    const RowLine* l = m.sum_line;
    const float was = l && !l->was.empty() ? l->was[0] : m.sum, kept = l && l->added ? l->kept[0] : m.sum;
    const float most = std::max({was, m.sum, 1e-20f}), room = box.w() - Canvas::width(t.title, "88,888") - c.px(8);
    const auto x = [&](float v) { return box.x0 + room * std::clamp(v / most, 0.f, 1.f); };
    c.fill({box.x0, box.y0, x(kept), box.y1}, Theme::mixed(t.panel, hue, 0.5f));
    c.fill({x(kept), box.y0, x(m.sum), box.y1}, hue);
    c.dashed({box.x0, box.y0 - c.px(2), x(was), box.y1 + c.px(2)}, hue);
    c.text_in(t.title, {x(m.sum) + c.px(8), box.y0, box.x1, box.y1}, t.ink, row_number(m.sum));
}

void draw_output(const Canvas& c, Box area, const RowMoment& m) {
    const Theme& t = c.theme();
    const float line = Canvas::height(t.text) + c.px(6);
    const RowLine* l = m.output_line;
    float most = 1e-20f;
    for (const float v : m.output)
        if (std::isfinite(v)) most = std::max(most, std::abs(v));
    for (std::size_t k = 0; l && k < l->was.size(); ++k)
        if (std::isfinite(l->was[k])) most = std::max(most, std::abs(l->was[k]));
    const ImU32 hue = t.hue(Meaning::output);
    for (std::size_t k = 0; k < m.output.size(); ++k) {
        if (area.h() < 2 * line && k + 1 < m.output.size())
            return void(c.text_in(t.small_text, area.cut_top(line), t.dim_ink, row_more(m.output.size() - k)));
        const Box row = area.cut_top(line);
        const float half = (row.w() - Canvas::width(t.text, "−88.88") - c.px(6)) / 2, middle = row.x0 + half;
        const auto x = [&](float v) { return middle + half * std::clamp(std::isnan(v) ? 0 : v / most, -1.f, 1.f); };
        const auto bar = [&](float v) {
            return Box{std::min(middle, x(v)), row.y0, std::max(middle, x(v)), row.y1 - c.px(4)};
        };
        const float kept = l && k < l->kept.size() ? l->kept[k] : m.output[k];
        c.fill(bar(kept), Theme::mixed(t.panel, hue, 0.6f));
        if (l && k < l->was.size()) c.dashed(bar(l->was[k]), hue);
        const float end = x(m.output[k]);
        c.line({x(kept), row.centre().y - c.px(2)}, {end, row.centre().y - c.px(2)}, t.now, c.px(2));
        c.fill({end - c.px(1), row.y0, end + c.px(1), row.y1 - c.px(4)}, hue);
        c.text_in(t.text, {middle + half + c.px(4), row.y0, row.x1, row.y1}, hue, row_number(m.output[k]),
                  Align::right);
    }
}

void draw_lines(const Canvas& c, Box& area, const RowMoment& m) {
    const Theme& t = c.theme();
    const float small = Canvas::height(t.small_text) + c.px(2), line = Canvas::height(t.text) + c.px(6);
    for (std::size_t k = 0; k < m.all.size() && area.h() > small + line; ++k) {
        const bool done = k < m.lines.size();
        const RowLine& l = done ? m.lines[k] : m.all[k];
        c.text_in(t.small_text, area.cut_top(small), t.dim_ink, row_formula(l));
        if (!done) continue;
        const Box row = area.cut_top(line);
        const std::string value = row_number(l.now[0]);
        c.text_in(t.text, {row.x0, row.y0, row.x1 - Canvas::width(t.title, value) - c.px(6), row.y1}, t.ink, l.numbers);
        c.text_in(t.title, row, t.ink, value, Align::right);
    }
}

void draw_switch(App& app, const Box& line, const RowStory& story) {
    ImGui::SetCursorScreenPos(line.min());
    tick_box(forget_label() + "##forget", app.view.forget_rescale);
    app.place("forget-rescale");
    if (!app.view.forget_rescale) return;
    const Canvas c(app.theme);
    const float x = ImGui::GetItemRectMax().x + c.px(10);
    c.text_in(app.theme.text, {x, line.y0, line.x1, line.y1}, app.theme.ink, forgotten_text(story.forgotten()));
}

void draw_row(App& app, const Wall& wall, const RowStory& story, const RowMoment& m, Box area) {
    const Canvas c(app.theme);
    const Theme& t = app.theme;
    const float control = ImGui::GetFrameHeight();
    draw_switch(app, {area.x0, area.y1 - control, area.x1, area.y1}, story);
    area.y1 -= control + c.px(6);
    Box right = {area.x0 + area.w() * 0.64f, area.y0, area.x1, area.y1};
    area.x1 = right.x0 - c.px(16);
    const float label = Canvas::height(t.small_text) + c.px(4), below = label;
    const Box sum = {area.x0, area.y1 - c.px(26), area.x1, area.y1 - c.px(4)};
    area.y1 = sum.y0 - label - c.px(4);
    c.text_in(t.small_text, {sum.x0, sum.y0 - label, sum.x1, sum.y0 - c.px(4)}, t.dim_ink,
              row_axis("sum of the weights", m));
    const float h = area.h();
    const auto axis = [&](const char* what, float height) {
        const Box title = area.cut_top(label);
        const float end = c.text_in(t.small_text, title, t.dim_ink, row_axis(what, m));
        const std::string shrinks = std::string(what) == "weights" ? row_shrinks(m) : "";
        if (!shrinks.empty()) c.text_in(t.small_text, {end + c.px(10), title.y0, title.x1, title.y1}, t.ink, shrinks);
        const Box names = area.cut_top(Canvas::height(t.text) + c.px(2));
        if (std::string(what) != "weights") draw_blocks(c, names, wall, m);
        const Box b = area.cut_top(std::max(4.f, height - 2 * label - below));
        area.cut_top(below);
        return b;
    };
    const Scale scores = scale_of(axis("scores S", h * 0.55f), m, false);
    draw_bars(c, scores, m, false);
    draw_level(c, scores, m);
    if (m.overflows) draw_ceiling(c, scores);
    const Scale weights = scale_of(axis("weights", h * 0.42f), m, true);
    draw_bars(c, weights, m, true);
    draw_sum(c, sum, m);
    Box output = right;
    if (!m.output.empty()) output.y0 = right.y0 + right.h() * 0.6f, right.y1 = output.y0 - c.px(8);
    draw_lines(c, right, m);
    draw_output(c, output, m);
}

}  // namespace

void panel(App& app, Run& run, const char* title) {
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    if (room.x < 40 || room.y < 40) return;
    const Canvas c(app.theme);
    const Theme& t = app.theme;
    Box area = {at.x, at.y, at.x + room.x, at.y + room.y};
    if (!run.has_values() || !Wall::has_room_for(run))
        return void(c.paragraph(t.text, at, t.ink, why_no_row(run), room.x, 6));
    const Index focus = std::min(app.view.sm, std::max<Index>(0, run.schedule().sms_used() - 1));
    const Wall& wall = app.walls.of(run, head_of_sm(run, focus), app.session.version());
    const RowPlace place = row_place(run, wall, painters(run, wall), focus, app.view.row);
    if (&run == app.session.run()) app.view.row = place.query - place.queries.begin;
    const RowStory& story = app.rows.of(run, place.head, place.query, app.session.version());
    const RowMoment m = story.at(run.tick());
    if (*title) c.text_in(t.title, area.cut_top(Canvas::height(t.title) + c.px(4)), t.dim_ink, title);
    ImFont* large = t.projector ? t.headline : t.title;
    const Box headline = area.cut_top(2 * large->FontSize + c.px(4));
    c.paragraph(large, headline.min(), t.ink, row_headline(run, story, m), headline.w(), 2);
    const Box reason = area.cut_top(2 * t.text->FontSize + c.px(4));
    c.paragraph(t.text, reason.min(), t.dim_ink, row_reason(run, m), reason.w(), 2);
    c.text_in(t.small_text, area.cut_top(Canvas::height(t.small_text) + c.px(6)), t.dim_ink,
              row_title(run, story, place));
    if (area.h() > c.px(120)) draw_row(app, wall, story, m, area);
}

}  // namespace tilescope::gui::row
