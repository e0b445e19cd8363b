// What can be explored beside a run: the plane of tiles, the roofline, and bytes against N.
#include <algorithm>

#include "gui/draw/chart.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/message.hpp"
#include "gui/draw/widgets.hpp"
#include "gui/explore/plane.hpp"
#include "gui/panels.hpp"

namespace tilescope::gui::explore {
namespace {

/// The rest of the current window.
Box room() {
    const ImVec2 at = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
    return {at.x, at.y, at.x + size.x, at.y + size.y};
}

void metric_list(Shown& shown, Screen& screen) {
    const lab::Metric& now = *lab::find_metric(shown.view.metric);
    ImGui::SetNextItemWidth(std::min(screen.theme.px(230), ImGui::GetContentRegionAvail().x));
    combo(screen, "metric", now.title, now.meaning, [&] {
        for (const lab::Metric* m : plane_metrics())
            if (entry(screen, std::string("metric-") + m->key, m->title, m == &now,
                      message("explore.metric", m->meaning, lab::name_of(m->evidence))))
                shown.view.metric = m->key;
    });
}

void tiles(Shown& shown, Derived& derived, Screen& screen, Input& input) {
    const Box line = room();
    metric_list(shown, screen);
    lab::TilePlane* plane = derived.explorer.plane();
    if (!plane) return;
    const Canvas c(screen.theme);
    const Theme& t = screen.theme;
    const lab::Metric& metric = *lab::find_metric(shown.view.metric);
    const Tiling current = shown.session.tiling().value_or(Tiling{});
    const PlanePicture picture = picture_of(*plane, metric, current);
    Box area = room();
    // The plane's state is written beside the list, or below the list.
    const float beside = std::min(line.x0 + c.px(230 + 16), line.x1);
    if (Canvas::fits(t.small_text, picture.state, line.x1 - beside)) {
        c.text_in(t.small_text, {beside, line.y0, line.x1, line.y0 + ImGui::GetFrameHeight()}, t.dim_ink,
                  picture.state);
        area.cut_top(c.px(4));
    } else {
        const int lines = c.paragraph(t.small_text, area.min(), t.dim_ink, picture.state, area.w(), 2);
        area.cut_top(static_cast<float>(lines) * t.small_text->FontSize + c.px(10));
    }
    const float readout = std::clamp(area.w() * 0.3f, c.px(150), c.px(260));
    const Box right = {area.x1 - readout, area.y0, area.x1, area.y1};
    area.x1 = right.x0 - c.px(18);
    draw_plane(shown, derived, screen, input, area, picture);
    draw_readout(screen, right, about_cell(*plane, metric, input.hovered_cell.value_or(cell_of(*plane, current))));
}

/// Rings where this run is in the chart, and lines from the runs before it.
void draw_trails(const Canvas& c, const Chart& chart, const std::vector<Explorer::Trail>& trails) {
    const Theme& t = c.theme();
    c.within(chart.plot.grown(c.px(8)), [&] {
        for (std::size_t k = 0; k < trails.size(); ++k) {
            const auto& points = trails[k].points;
            for (std::size_t i = 1; i < points.size(); ++i)
                c.line(chart.at(points[i - 1].first, points[i - 1].second), chart.at(points[i].first, points[i].second),
                       Theme::faded(t.highlight, 0.5f), c.px(1.5f));
            if (points.empty()) continue;
            const ImVec2 at = chart.at(points.back().first, points.back().second);
            c.circle_outline(at, c.px(8), t.highlight, c.px(2.5f));
            if (k == 0) c.circle(at, c.px(3.5f), t.highlight);
        }
    });
}

void figure(const Shown& shown, const Derived& derived, const Screen& screen) {
    const lab::Figure* f = derived.explorer.figure();
    if (!f) return;
    const Canvas c(screen.theme);
    const Theme& t = screen.theme;
    Box area = room();
    c.text_in(t.title, area.cut_top(t.title->FontSize + c.px(8)), t.ink, f->title);
    area.cut_top(draw_legend(c, area, *f) + c.px(4));
    const std::string note = about_figure(*f, derived.explorer.busy());
    constexpr int most = 8;
    const auto lines =
        static_cast<float>(std::min<std::size_t>(most, Canvas::broken(t.small_text, note, area.w()).size()));
    const Box words = {area.x0, area.y1 - lines * t.small_text->FontSize - c.px(2), area.x1, area.y1};
    c.paragraph(t.small_text, words.min(), t.dim_ink, note, area.w(), most);
    area.y1 = words.y0 - c.px(6);
    const auto n = static_cast<float>(f->panels.size());
    for (std::size_t k = 0; k < f->panels.size(); ++k) {
        const auto at = static_cast<float>(k);
        const auto trails = derived.explorer.trails(shown.view.stage, k);
        std::vector<std::pair<double, double>> now;
        for (const auto& trail : trails)
            if (!trail.points.empty()) now.push_back(trail.points.back());
        const Chart chart = draw_chart(
            c, {area.x0 + area.w() * at / n, area.y0, area.x0 + area.w() * (at + 1) / n, area.y1}, f->panels[k], now);
        draw_trails(c, chart, trails);
    }
}

}  // namespace

void panel(Shown& shown, Derived& derived, Screen& screen, Input& input) {
    shown.view.stage == Stage::tiles ? tiles(shown, derived, screen, input) : figure(shown, derived, screen);
    const std::string problem = derived.explorer.problem();
    if (!problem.empty())
        Canvas(screen.theme).paragraph(screen.theme.text, room().min(), screen.theme.bad, problem, room().w(), 4);
}

}  // namespace tilescope::gui::explore
