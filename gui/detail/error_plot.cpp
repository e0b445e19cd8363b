#include "gui/detail/error_plot.hpp"

#include <algorithm>
#include <cmath>

#include "gui/draw/canvas.hpp"
#include "gui/draw/message.hpp"
#include "gui/draw/whole.hpp"
#include "show/words/value_text.hpp"

namespace tilescope::gui::detail {
namespace {

/// Adding up all stored rows takes a few milliseconds where there are millions of numbers. So the sum is cached in
/// ImGui's state of this window until the tick changes. While playing, a large sum is not updated.
Run::StoredError stored_error(const Shown& shown, const Run& run) {
    constexpr Index large = 1 << 18;
    ImGuiStorage& kept = *ImGui::GetStateStorage();
    const ImGuiID version = ImGui::GetID("version"), tick = ImGui::GetID("tick"), rms = ImGui::GetID("rms"),
                  rows = ImGui::GetID("rows"), max_abs = ImGui::GetID("max_abs"), largest = ImGui::GetID("largest");
    const int now_version = static_cast<int>(shown.session.version()), now_tick = static_cast<int>(run.tick());
    const Problem& p = run.recorded();
    const Index all = p.batch_heads() * p.seq_q,
                cols = run.algorithm().computes->features.has(Feature::head_dims) ? std::max(p.dim, p.dim_v) : p.seq_k;
    const bool same_run = kept.GetInt(version, -1) == now_version, same_tick = kept.GetInt(tick, -1) == now_tick;
    if (!same_run || (!same_tick && (!shown.playback.playing() || all * cols < large))) {
        const Run::StoredError e = run.stored_error();
        kept.SetInt(version, now_version), kept.SetInt(tick, now_tick);
        kept.SetFloat(rms, static_cast<float>(e.rms)), kept.SetInt(rows, static_cast<int>(e.rows));
        kept.SetFloat(max_abs, static_cast<float>(e.max_abs)), kept.SetFloat(largest, static_cast<float>(e.largest));
    }
    const auto real = [&](ImGuiID id) { return static_cast<double>(kept.GetFloat(id)); };
    return {real(rms), kept.GetInt(rows), all, real(max_abs), real(largest)};
}

/// The plot's axes: ticks of the thread block across, whole decades up.
struct Axes {
    ImVec2 at, size;
    Index first, last;
    int low, high;  // decades

    float x(Index tick) const {
        const auto extent = static_cast<float>(std::max<Index>(1, last - first));
        return at.x + size.x * static_cast<float>(tick - first) / extent;
    }
    float y(double rms) const {
        if (!std::isfinite(rms)) return at.y;  // not finite: at the top
        const double decade = std::clamp(std::log10(std::max(rms, 1e-30)), double(low), double(high));
        return at.y + size.y * static_cast<float>((high - decade) / (high - low));
    }
};

/// The decades that cover all errors so far.
std::pair<int, int> decades(const std::vector<ErrorPoint>& points) {
    double least = INFINITY, most = 0;
    for (const ErrorPoint& p : points) {
        if (!std::isfinite(p.rms) || p.rms <= 0) continue;
        least = std::min(least, p.rms), most = std::max(most, p.rms);
    }
    if (most == 0) return {-8, 0};
    const auto decade = [](double x) { return static_cast<int>(whole(x, -999, 999)); };
    const int low = decade(std::floor(std::log10(least))), high = decade(std::ceil(std::log10(most)));
    return {std::min(low, high - 1), high};
}

void draw_axes(const Theme& t, const Axes& a) {
    const Canvas c(t);
    // As many labels as do not touch.
    const float decade = a.size.y / static_cast<float>(a.high - a.low);
    const auto every = static_cast<int>(whole(std::ceil((t.small_text->FontSize + t.px(2)) / decade), 1, 999));
    for (int d = a.high; d >= a.low; d -= every) {
        const float y = std::round(a.y(std::pow(10, d)));
        c.line({a.at.x, y}, {a.at.x + a.size.x, y}, t.faint);
        const std::string label = "1e" + std::to_string(d);
        const float x = a.at.x - Canvas::width(t.small_text, label) - t.px(6);
        c.text(t.small_text, {x, y - t.small_text->FontSize / 2}, t.dim_ink, label);
    }
}

void draw_ticks(const Theme& t, const Axes& a) {
    const float below = a.at.y + a.size.y + t.px(3);
    const std::string first = message("detail.tick", std::to_string(a.first)), last = std::to_string(a.last);
    const Canvas c(t);
    c.text(t.small_text, {a.at.x, below}, t.dim_ink, first);
    c.text(t.small_text, {a.at.x + a.size.x - Canvas::width(t.small_text, last), below}, t.dim_ink, last);
}

/// A step line: an error holds until the tile is written again.
void draw_points(const Theme& t, const Axes& a, const std::vector<ErrorPoint>& points, Index now, ImU32 colour) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float dot = points.size() > 40 ? 0 : t.px(2.5f);
    for (std::size_t k = 0; k < points.size(); ++k) {
        const Index until = k + 1 < points.size() ? points[k + 1].tick : std::min(now, a.last);
        const ImVec2 from = {a.x(points[k].tick), a.y(points[k].rms)}, to = {a.x(until), from.y};
        if (k > 0) list.AddLine({from.x, a.y(points[k - 1].rms)}, from, colour, t.px(1.5f));
        list.AddLine(from, to, colour, t.px(1.5f));
        if (dot > 0) list.AddCircleFilled(from, dot, colour);
    }
    const ErrorPoint& last = points.back();
    list.AddCircleFilled({a.x(last.tick), a.y(last.rms)}, t.px(4), t.highlight);
}

}  // namespace

void error_plot(const Shown& shown, const Screen& screen, const Run& run, const SmState& sm, ImVec2 at, ImVec2 size) {
    const Theme& t = screen.theme;
    const float line = t.small_text->FontSize;
    const std::vector<ErrorPoint> points = run.error_so_far(sm);
    const std::string value = points.empty() ? "" : error_text(points.back().rms);
    const Canvas c(t);
    const float right = at.x + size.x, free = right - Canvas::width(t.small_text, value),
                low_line = at.y + size.y - line - t.px(1);
    c.text_in(t.small_text, {at.x, at.y, free - t.px(8), at.y + line}, t.dim_ink, error_title(run));
    c.text(t.small_text, {free, at.y}, t.ink, value);
    c.text_in(t.small_text, {at.x, low_line, right, low_line + line}, t.dim_ink,
              stored_text(run, stored_error(shown, run)));
    const bool ticks = size.y >= t.px(108);  // labels below the axis, where there is room
    const float top = at.y + line + t.px(9), left = at.x + t.px(38);
    const float bottom = at.y + size.y - (ticks ? 2 : 1) * line - t.px(10);
    if (!sm.block || bottom - top < t.px(20)) return;
    const auto [low, high] = decades(points);
    const Axes a{
        {left, top}, {at.x + size.x - left - t.px(6), bottom - top}, sm.block->first_tick, sm.block->last_tick, low,
        high};
    if (ticks) draw_ticks(t, a);
    if (points.empty()) {
        c.text_in(t.small_text, {a.at.x, top, a.at.x + a.size.x, bottom}, t.dim_ink, why_no_error(run), Align::centre);
        return;
    }
    draw_axes(t, a);
    draw_points(t, a, points, run.tick(), t.hue(Meaning::output));
}

}  // namespace tilescope::gui::detail
