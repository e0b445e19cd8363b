// One row under the microscope: its scores as bars with m as a level, the weights below them, l and O.
#include <algorithm>
#include <cmath>

#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/titles.hpp"
#include "gui/draw/words.hpp"
#include "gui/panels.hpp"
#include "gui/row/bars.hpp"
#include "gui/row/softmaxes.hpp"
#include "show/stage/row_text.hpp"

namespace tilescope::gui::row {
namespace {

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

/// Draws the lines of the visit's formulas. Returns whether all lines had room.
bool draw_lines(const Canvas& c, Box& area, const RowMoment& m) {
    const Theme& t = c.theme();
    const float small = Canvas::height(t.small_text) + c.px(2), line = Canvas::height(t.text) + c.px(6);
    for (std::size_t k = 0; k < m.all.size(); ++k) {
        if (area.h() <= small + line) return false;
        const bool done = k < m.lines.size();
        const RowLine& l = done ? m.lines[k] : m.all[k];
        c.text_in(t.small_text, area.cut_top(small), t.dim_ink, row_formula(l));
        if (!done) continue;
        const Box row = area.cut_top(line);
        const std::string value = row_number(l.now[0]);
        c.text_in(t.text, {row.x0, row.y0, row.x1 - Canvas::width(t.title, value) - c.px(6), row.y1}, t.ink, l.numbers);
        c.text_in(t.title, row, t.ink, value, Align::right);
    }
    return true;
}

/// How many lines the switches need.
int switch_lines(const Shown& shown, const Screen& screen, float width) {
    if (screen.alone || shown.view.softmaxes) return 1;
    const float boxes = 2 * (ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x) + screen.theme.px(16);
    return boxes + width_of(softmaxes_label()) + width_of(forget_label()) > width ? 2 : 1;
}

void draw_switches(Shown& shown, Screen& screen, const Box& line, const RowStory& story) {
    const Canvas c(screen.theme);
    if (screen.alone) {  // a picture has nothing to click at
        if (shown.view.forget_rescale && !shown.view.softmaxes)
            c.text_in(screen.theme.text, line, screen.theme.ink, forgotten_text(story.forgotten()));
        return;
    }
    ImGui::SetCursorScreenPos(line.min());
    tick_box(softmaxes_label() + "##softmaxes", shown.view.softmaxes);
    screen.place("softmaxes");
    if (shown.view.softmaxes) return;
    if (switch_lines(shown, screen, line.w()) == 1)
        ImGui::SameLine(0, c.px(16));
    else
        ImGui::SetCursorScreenPos({line.x0, line.y1 - ImGui::GetFrameHeight()});
    tick_box(forget_label() + "##forget", shown.view.forget_rescale);
    screen.place("forget-rescale");
    if (!shown.view.forget_rescale) return;
    const float x = ImGui::GetItemRectMax().x + c.px(10);
    c.text_in(screen.theme.text, {x, line.y0, line.x1, line.y1}, screen.theme.ink, forgotten_text(story.forgotten()));
}

/// Titles of the keys, where there is room for them.
void draw_key_titles(const Canvas& c, const Box& line, const Session& session, Index keys) {
    const std::string longest = longest_title(session, keys);
    if (longest.empty()) return;
    const float per_key = line.w() / static_cast<float>(keys);
    draw_titles(c, session, line, line.x0, per_key,
                titles_every(Canvas::width(c.theme().small_text, longest) + c.px(4), per_key), keys);
}

void draw_row(const Canvas& c, const Session& session, const Wall& wall, const RowMoment& m, Box area) {
    const Theme& t = c.theme();
    Box right = {area.x0 + area.w() * 0.64f, area.y0, area.x1, area.y1};
    area.x1 = right.x0 - c.px(16);
    const float label = Canvas::height(t.small_text) + c.px(4), below = label;
    const Box sum = {area.x0, area.y1 - c.px(26), area.x1, area.y1 - c.px(4)};
    area.y1 = sum.y0 - label - c.px(4);
    c.text_in(t.small_text, {sum.x0, sum.y0 - label, sum.x1, sum.y0 - c.px(4)}, t.dim_ink, row_axis(RowAxis::sum, m));
    const float h = area.h();
    const auto axis = [&](RowAxis what, float height) {
        const Box title = area.cut_top(label);
        const float end = c.text_in(t.small_text, title, t.dim_ink, row_axis(what, m));
        const std::string shrinks = what == RowAxis::weights ? row_shrinks(m) : "";
        if (!shrinks.empty()) c.text_in(t.small_text, {end + c.px(10), title.y0, title.x1, title.y1}, t.ink, shrinks);
        const Box names = area.cut_top(Canvas::height(t.text) + c.px(2));
        if (what != RowAxis::weights)
            draw_blocks(c, names, wall, m);
        else
            draw_key_titles(c, names, session, std::ssize(m.keys));
        const Box b = area.cut_top(std::max(4.f, height - 2 * label - below));
        area.cut_top(below);
        return b;
    };
    const Scale scores = scale_of_scores(axis(RowAxis::scores, h * 0.55f), m);
    draw_bars(c, scores, scores_of(m));
    draw_level(c, scores, m);
    if (m.overflows) draw_ceiling(c, scores);
    const std::vector<Bar> weights = weights_of(m);
    draw_bars(c, Scale(axis(RowAxis::weights, h * 0.42f), weights, 1), weights);
    draw_sum(c, sum, m);
    Box output = right;
    if (!m.output.empty()) output.y0 = right.y0 + right.h() * 0.6f, right.y1 = output.y0 - c.px(8);
    // Without its formula O has its name above its numbers.
    if (!draw_lines(c, right, m) && !m.output.empty())
        c.text_in(t.small_text, {output.x0, output.y0 - label, output.x1, output.y0 - c.px(4)}, t.dim_ink,
                  row_output(m));
    draw_output(c, output, m);
}

}  // namespace

void panel(Shown& shown, Derived& derived, Screen& screen, Run& run, const char* title) {
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    if (room.x < 40 || room.y < 40) return;
    const Canvas c(screen.theme);
    const Theme& t = screen.theme;
    Box area = {at.x, at.y, at.x + room.x, at.y + room.y};
    if (!RowStory::tells_of(run) || !Wall::has_room_for(run))
        return void(c.paragraph(t.text, at, t.ink, why_no_row(run), room.x, 6));
    const Index focus = std::min(shown.view.sm, std::max<Index>(0, run.schedule().sms_used() - 1));
    const Wall& wall = derived.walls.of(run, head_of_sm(run, focus), shown.session.version());
    const RowPlace place = row_place(run, wall, painters(run, wall), focus, shown.view.row);
    if (&run == shown.session.run()) shown.view.row = place.query - place.queries.begin;
    const RowStory& story = derived.rows.of(run, place.head, place.query, shown.session.version());
    if (*title) c.text_in(t.title, area.cut_top(Canvas::height(t.title) + c.px(4)), t.dim_ink, title);
    const float control =
        static_cast<float>(switch_lines(shown, screen, area.w())) * (ImGui::GetFrameHeight() + c.px(4)) - c.px(4);
    const Box switches = {area.x0, area.y1 - control, area.x1, area.y1};
    area.y1 -= control + c.px(6);
    const auto say_where = [&] {
        if (area.h() > c.px(shown.view.softmaxes ? 400 : 120))
            c.text_in(t.small_text, area.cut_top(Canvas::height(t.small_text) + c.px(6)), t.dim_ink,
                      row_title(run, story, place, title_of(shown.session, place.query)));
        draw_switches(shown, screen, switches, story);
    };
    if (shown.view.softmaxes) {
        const Softmaxes& all = derived.softmaxes.of(run, story, shown.session.version());
        const auto programs = all.at(static_cast<double>(run.tick()) / static_cast<double>(run.ticks()));
        draw_words(c, area, {{softmaxes_headline(programs)}}, softmaxes_reason(all, programs));
        say_where();
        return draw_softmaxes(c, programs, area);
    }
    const RowMoment m = story.at(run.tick());
    draw_words(c, area, {{row_headline(run, story, m)}}, row_reason(run, m));
    say_where();
    if (area.h() > c.px(90)) draw_row(c, shown.session, wall, m, area);
}

}  // namespace tilescope::gui::row
