#include "gui/row/softmaxes.hpp"

#include <cmath>

#include "gui/row/bars.hpp"
#include "show/stage/row_text.hpp"

namespace tilescope::gui::row {
using namespace show;
namespace {

std::vector<Bar> result_of(const SoftmaxMoment& p) {
    std::vector<Bar> bars;
    for (std::size_t k = 0; k < p.result.size(); ++k) {
        const float value = p.result[k].value_or(0);
        const auto state = p.result[k] ? RowKey::State::known : RowKey::State::unread;
        bars.push_back({state, value, value, p.row.keys[k].now});
    }
    return bars;
}

/// Writes what the bars are, and a remark. Returns the room for the bars, less a line for the numbers below them.
Box draw_axis(const Canvas& c, Box column, const std::string& what, const std::vector<std::string>& said, ImU32 ink) {
    const Theme& t = c.theme();
    const float line = Canvas::height(t.small_text) + c.px(3);
    const Box title = column.cut_top(line);
    const float end = c.text_in(t.small_text, title, t.dim_ink, what);
    if (!said[0].empty())
        c.text_in(t.small_text, {end + c.px(8), title.y0, title.x1, title.y1}, ink, said, Align::right);
    column.y0 += c.px(2);
    if (column.h() > 4 * line) column.y1 -= line;  // for numbers
    return column;
}

void draw_program(const Canvas& c, const SoftmaxMoment& p, Box area) {
    const Theme& t = c.theme();
    const Box title = area.cut_top(Canvas::height(t.text) + c.px(4));
    const float end = c.text_in(t.title, title, t.ink, p.algorithm->name);
    c.text_in(t.text, {end + c.px(12), title.y0, title.x1, title.y1}, t.ink, softmax_counts(p), Align::right);
    if (area.h() > 6 * Canvas::height(t.small_text))
        c.text_in(t.small_text, area.cut_top(Canvas::height(t.small_text) + c.px(2)), t.dim_ink, softmax_line(p));
    const float gap = c.px(14), width = (area.w() - 2 * gap) / 3;
    const auto axis = [&](float k, RowAxis what, const std::vector<std::string>& said, ImU32 ink) {
        const float x0 = area.x0 + k * (width + gap);
        return draw_axis(c, {x0, area.y0, x0 + width, area.y1}, row_axis(what, p.row), said, ink);
    };
    const Scale scores = scale_of_scores(axis(0, RowAxis::scores, {""}, t.ink), p.row);
    draw_bars(c, scores, scores_of(p.row));
    draw_level(c, scores, p.row);
    if (p.row.overflows) draw_ceiling(c, scores);
    const std::vector<Bar> weights = weights_of(p.row), result = result_of(p);
    const Box sum = axis(1, RowAxis::weights, {softmax_sum(p)}, std::isfinite(p.row.sum) ? t.ink : t.bad);
    draw_bars(c, Scale(sum, weights, 1), weights);
    draw_bars(c, Scale(axis(2, RowAxis::result, softmax_result(p), t.bad), result, 0.1f), result);
}

}  // namespace

void draw_softmaxes(const Canvas& c, const std::vector<SoftmaxMoment>& programs, Box area) {
    if (programs.empty()) return;
    const float height = area.h() / static_cast<float>(programs.size());
    if (height < c.px(70) || area.w() < c.px(150)) return;
    for (const SoftmaxMoment& p : programs) {
        Box strip = area.cut_top(height);
        strip.y1 -= c.px(8);
        draw_program(c, p, strip);
    }
}

}  // namespace tilescope::gui::row
