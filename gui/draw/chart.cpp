#include "gui/draw/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tilescope::gui {
namespace {

using lab::Look;

void draw_line(const Canvas& c, ImVec2 from, ImVec2 to, Look look, ImU32 colour) {
    const float width = c.px(2);
    if (look == Look::dashes) return c.strokes(from, to, colour, c.px(8), c.px(5), width);
    if (look == Look::dots) return c.strokes(from, to, colour, c.px(2), c.px(4), width);
    c.line(from, to, colour, look == Look::border ? c.px(1) : width);
}

bool has_line(Look look) {
    return look == Look::measured_line || look == Look::line || look == Look::border || look == Look::dashes ||
           look == Look::dots;
}

bool has_marks(Look look) { return !has_line(look) ? look != Look::words : look == Look::measured_line; }

void draw_axes(const Canvas& c, const Chart& chart) {
    const Theme& t = c.theme();
    const Box& p = chart.plot;
    const float line = t.small_text->FontSize;
    float free_from = -1e9f;  // where the last x label ends; labels that would touch are left out
    for (const auto& tick : chart.axes.x.ticks) {
        const float x = std::round(chart.at(tick.at, chart.axes.y.from).x);
        if (x < p.x0 - 1 || x > p.x1 + 1) continue;
        c.line({x, p.y0}, {x, p.y1}, t.faint);
        const float w = Canvas::width(t.small_text, tick.text);
        if (x - w / 2 < free_from) continue;
        c.text(t.small_text, {x - w / 2, p.y1 + c.px(4)}, t.dim_ink, tick.text);
        free_from = x + w / 2 + c.px(6);
    }
    float free_below = 1e9f;
    for (const auto& tick : chart.axes.y.ticks) {
        const float y = std::round(chart.at(chart.axes.x.from, tick.at).y);
        if (y < p.y0 - 1 || y > p.y1 + 1) continue;
        c.line({p.x0, y}, {p.x1, y}, t.faint);
        if (y + line / 2 > free_below) continue;
        c.text(t.small_text, {p.x0 - Canvas::width(t.small_text, tick.text) - c.px(6), y - line / 2}, t.dim_ink,
               tick.text);
        free_below = y - line / 2;
    }
    c.line({p.x0, p.y0}, {p.x0, p.y1}, t.bus);
    c.line({p.x0, p.y1}, {p.x1, p.y1}, t.bus);
}

void draw_label(const Canvas& c, const Chart& chart, ImVec2 at, const std::string& words, bool above) {
    const Theme& t = c.theme();
    const ImVec2 size = Canvas::size(t.small_text, words);
    const float left = chart.plot.x0 + c.px(2), right = std::max(left, chart.plot.x1 - size.x);
    const float x = std::clamp(at.x + c.px(7), left, right), y = above ? at.y - size.y - c.px(2) : at.y + c.px(3);
    c.text_on_patch(t.small_text, {x, y, x + size.x + 1, y + size.y}, t.ink, t.panel, {words});
}

void draw_series(const Canvas& c, const Chart& chart, const lab::Series& s) {
    const ImU32 colour = c.theme().series(s.colour);
    c.within(chart.plot.grown(c.px(6)), [&] {
        for (std::size_t k = 1; has_line(s.look) && k < s.points.size(); ++k)
            draw_line(c, chart.at(s.points[k - 1].x, s.points[k - 1].y), chart.at(s.points[k].x, s.points[k].y), s.look,
                      colour);
        for (const lab::FigurePoint& p : s.points)
            if (has_marks(s.look)) draw_mark(c, chart.at(p.x, p.y), s.look, s.colour, c.px(4));
    });
}

void draw_labels(const Canvas& c, const Chart& chart, const lab::Series& s) {
    for (const lab::FigurePoint& p : s.points)
        if (!p.label.empty()) draw_label(c, chart, chart.at(p.x, p.y), p.label, p.slope == 0);  // else below the line
}

struct Entry {
    std::string title;
    Look look;
    int colour;
};

std::vector<Entry> entries_of(const lab::Figure& f) {
    std::vector<Entry> entries;
    for (const lab::Panel& p : f.panels)
        for (const lab::Series& s : p.series)
            if (!s.title.empty() && std::none_of(entries.begin(), entries.end(), [&](const Entry& e) {
                    return e.title == s.title && e.look == s.look && e.colour == s.colour;
                }))
                entries.push_back({s.title, s.look, s.colour});
    return entries;
}

}  // namespace

void draw_mark(const Canvas& c, ImVec2 at, Look look, int colour, float r) {
    const ImU32 ink = c.theme().series(colour);
    const float width = c.px(1.8f);
    if (look == Look::crosses) {
        c.line({at.x - r, at.y - r}, {at.x + r, at.y + r}, ink, width);
        c.line({at.x - r, at.y + r}, {at.x + r, at.y - r}, ink, width);
        return;
    }
    if (look == Look::rings) return c.circle_outline(at, 1.8f * r, ink, width);
    // The shape, too, tells curves apart.
    const bool open = look == Look::open_points;
    const auto ngon = [&](int corners, float turn) {
        std::array<ImVec2, 4> p;
        for (int k = 0; k < corners; ++k) {
            const float a = turn + 6.2831853f * static_cast<float>(k) / static_cast<float>(corners);
            p[static_cast<std::size_t>(k)] = {at.x + 1.25f * r * std::sin(a), at.y - 1.25f * r * std::cos(a)};
        }
        const std::span<const ImVec2> shape(p.data(), static_cast<std::size_t>(corners));
        open ? c.polygon_outline(shape, ink, width) : c.polygon(shape, ink);
    };
    switch (colour < 0 ? 0 : colour % 5) {
        case 0:
            return open ? c.circle_outline(at, r, ink, width) : c.circle(at, r, ink);
        case 1:
            return ngon(4, 0.785398f);
        case 2:
            return ngon(3, 0);
        case 3:
            return ngon(4, 0);
        default:
            return ngon(3, 3.1415927f);
    }
}

Chart draw_chart(const Canvas& c, Box area, const lab::Panel& panel,
                 const std::vector<std::pair<double, double>>& besides) {
    const Theme& t = c.theme();
    const float line = t.small_text->FontSize;
    Chart chart{{}, show::axes_of(panel, besides)};
    const Box title = area.cut_top(line + c.px(4)), y_title = area.cut_top(line + c.px(6));
    c.text_in(t.text, title, t.ink, panel.title, Align::centre);
    float widest = 0;
    for (const auto& tick : chart.axes.y.ticks) widest = std::max(widest, Canvas::width(t.small_text, tick.text));
    chart.plot = {area.x0 + widest + c.px(8), area.y0 + c.px(4), area.x1 - c.px(10), area.y1 - 2 * line - c.px(12)};
    if (chart.plot.w() < c.px(40) || chart.plot.h() < c.px(40)) return chart;
    c.text_in(t.small_text, y_title, t.dim_ink, panel.y.title);
    c.text_in(t.small_text, {chart.plot.x0, area.y1 - line - c.px(2), chart.plot.x1, area.y1 - c.px(2)}, t.dim_ink,
              panel.x.title, Align::centre);
    draw_axes(c, chart);
    for (const lab::Series& s : panel.series) draw_series(c, chart, s);
    for (const lab::Series& s : panel.series) draw_labels(c, chart, s);
    return chart;
}

float draw_legend(const Canvas& c, Box area, const lab::Figure& figure) {
    const Theme& t = c.theme();
    const float line = t.small_text->FontSize + c.px(4), sample = c.px(26);
    float x = area.x0, y = area.y0;
    for (const Entry& e : entries_of(figure)) {
        const float w = sample + c.px(6) + Canvas::width(t.small_text, e.title);
        if (x > area.x0 && x + w > area.x1) x = area.x0, y += line;
        const float middle = y + line / 2;
        if (has_line(e.look)) draw_line(c, {x, middle}, {x + sample, middle}, e.look, t.series(e.colour));
        if (has_marks(e.look)) draw_mark(c, {x + sample / 2, middle}, e.look, e.colour, c.px(4));
        c.text_in(t.small_text, {x + sample + c.px(6), y, std::min(area.x1, x + w + 1), y + line}, t.ink, e.title);
        x += w + c.px(16);
    }
    return y + line - area.y0;
}

}  // namespace tilescope::gui
