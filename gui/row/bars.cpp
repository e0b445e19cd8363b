#include "gui/row/bars.hpp"

#include <algorithm>
#include <cmath>

#include "gui/draw/whole.hpp"
#include "show/stage/row_text.hpp"

namespace tilescope::gui::row {
using namespace show;
namespace {

/// Of the bars that share a pixel, the one with the largest absolute value; the first one where none is known.
const Bar& largest(std::span<const Bar> bars) {
    const auto size = [](const Bar& b) {
        return b.state != RowKey::State::known ? -1.f : std::isfinite(b.value) ? std::abs(b.value) : INFINITY;
    };
    return *std::max_element(bars.begin(), bars.end(), [&](const Bar& a, const Bar& b) { return size(a) < size(b); });
}

}  // namespace

std::vector<Bar> scores_of(const RowMoment& m) {
    std::vector<Bar> bars;
    for (const RowKey& k : m.keys) bars.push_back({k.state, k.score, k.score, k.now});
    return bars;
}

std::vector<Bar> weights_of(const RowMoment& m) {
    std::vector<Bar> bars;
    for (const RowKey& k : m.keys) {
        const bool awaited = k.state == RowKey::State::known && !k.has_weight;
        bars.push_back({awaited ? RowKey::State::unread : k.state, k.weight, k.was, k.now});
    }
    return bars;
}

Scale::Scale(const Box& in, const std::vector<Bar>& bars, float least) : box(in), high(least) {
    for (const Bar& b : bars)
        if (b.state == RowKey::State::known) with(b.value);
}

void Scale::with(float v) {
    if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
}

float Scale::y(float v) const {
    const double at = std::isnan(v) ? low : std::clamp(v, low, high), least = low;
    return box.y1 - box.h() * static_cast<float>((at - least) / std::max(1e-20, high - least));
}

Scale scale_of_scores(const Box& box, const RowMoment& m) {
    Scale s(box, scores_of(m), 0.1f);
    if (m.has_m) s.with(m.m);
    if (m.overflows) s.with(1.1f * row_ceiling);
    return s;
}

void draw_bars(const Canvas& c, const Scale& s, const std::vector<Bar>& all) {
    const Theme& t = c.theme();
    const std::span<const Bar> keys = all;
    const auto in_a_bar =
        static_cast<std::size_t>(whole(std::ceil(static_cast<float>(keys.size()) / s.box.w()), 1, 1 << 20));
    const float pitch = static_cast<float>(in_a_bar) * s.box.w() / static_cast<float>(keys.size());
    const float gap = pitch >= c.px(6) ? c.px(2) : 0;
    const ImU32 hue = t.hue(Meaning::score);
    for (std::size_t k = 0; k * in_a_bar < keys.size(); ++k) {
        const Bar& key = largest(keys.subspan(k * in_a_bar, std::min(in_a_bar, keys.size() - k * in_a_bar)));
        const float x = s.box.x0 + static_cast<float>(k) * pitch;
        const Box column = {x, s.box.y0, std::max(x + 1, x + pitch - gap), s.box.y1};
        if (key.state == RowKey::State::masked || key.state == RowKey::State::skipped) {
            c.hatch(column, t.faint, c.px(key.state == RowKey::State::skipped ? 4 : 7));
        } else if (key.state == RowKey::State::unread) {
            c.dashed({column.x0, s.y(0) - c.px(8), column.x1, s.y(0)}, t.faint);
        } else {
            const float value = key.value, zero = s.y(0), y = std::isnan(value) ? s.box.y0 : s.y(value);
            const Box bar = {column.x0, std::min(y, zero), column.x1, std::max(y, zero)};
            c.fill(bar, Theme::mixed(t.panel, hue, key.now ? 1.f : 0.55f));
            // Where the bar was higher before: dashes, or where these have no room, a line at its old end.
            if (key.was > value && pitch >= c.px(6)) c.dashed({bar.x0, s.y(key.was), bar.x1, zero}, hue);
            if (key.was > value && pitch < c.px(6))
                c.line({bar.x0, s.y(key.was)}, {bar.x1, s.y(key.was)}, Theme::faded(hue, 0.6f));
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

void draw_sum(const Canvas& c, const Box& box, const RowMoment& m) {
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

void draw_ceiling(const Canvas& c, const Scale& s) {
    const Theme& t = c.theme();
    const float y = s.y(row_ceiling), line = Canvas::height(t.small_text);
    c.line({s.box.x0, y}, {s.box.x1, y}, t.bad, c.px(2));
    c.text_on_patch(t.small_text, {s.box.x0, y - line - c.px(2), s.box.x1, y - c.px(2)}, t.bad, t.panel,
                    {ceiling_text()}, Align::right);
}

}  // namespace tilescope::gui::row
