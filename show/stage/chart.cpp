#include "show/stage/chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text/numbers.hpp"
#include "lab/figure/ticks.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

/// "10 GB", "1 PFLOP/s", "50%": a tick has no more digits than it needs.
std::string tick_text(double x, Scale scale) {
    if (scale == Scale::percent) return text::number(x) + "%";
    if (scale == Scale::plain)
        return std::abs(x) >= 1000 && std::abs(x) < 1e12 ? text::grouped(std::llround(x)) : text::number(x);
    const char* const unit = scale == Scale::bytes ? "B" : scale == Scale::seconds ? "s" : "FLOP/s";
    if (x == 0) return std::string("0 ") + unit;
    constexpr const char* prefixes[] = {"n", "µ", "m", "", "k", "M", "G", "T", "P", "E"};
    const int power = std::clamp(static_cast<int>(std::floor(std::log10(std::abs(x)) / 3 + 1e-9)), -3, 6);
    return text::number(x / std::pow(1000, power)) + " " + prefixes[power + 3] + unit;
}

struct Range {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    void take(double x, bool log) {
        if (std::isfinite(x) && (!log || x > 0)) least = std::min(least, x), most = std::max(most, x);
    }
};

ChartAxis axis_of(const FigureAxis& a, Range r) {
    if (!(r.most >= r.least)) r = {a.log ? 1.0 : 0.0, a.log ? 10.0 : 1.0};
    ChartAxis out{a.title, a.from.value_or(r.least), a.to.value_or(r.most), a.log, a.ticks};
    if (a.log) {
        constexpr double almost = 1e-9;
        if (!a.from) out.from = std::pow(10, std::floor(std::log10(out.from) + almost));
        if (!a.to) out.to = std::pow(10, std::ceil(std::log10(out.to) - almost));
        if (!(out.to > out.from)) out.to = out.from * 10;
        if (a.ticks.empty())
            for (int k = static_cast<int>(std::ceil(std::log10(out.from) - almost));
                 std::pow(10, k) <= out.to * (1 + almost); ++k)
                out.ticks.push_back({std::pow(10, k), tick_text(std::pow(10, k), a.scale)});
        return out;
    }
    if (!(out.to > out.from)) out.to = out.from + 1;
    const double step = round_step(out.to - out.from, 5);
    if (!a.from) out.from = std::floor(out.from / step) * step;
    if (!a.to) out.to = std::ceil(out.to / step) * step;
    if (a.ticks.empty())
        for (double x = std::ceil(out.from / step) * step; x <= out.to + step / 2; x += step)
            out.ticks.push_back({x, tick_text(std::abs(x) < step / 2 ? 0 : x, a.scale)});
    return out;
}

}  // namespace

float ChartAxis::at(double x) const {
    constexpr float outside = -1e4f;
    if (log && !(x > 0)) return outside;
    const double share = log ? std::log(x / from) / std::log(to / from) : (x - from) / (to - from);
    return static_cast<float>(std::clamp(share, -1e4, 1e4));
}

ChartAxes axes_of(const Panel& p, const std::vector<std::pair<double, double>>& besides) {
    Range x, y;
    const auto take = [&](double px, double py) { x.take(px, p.x.log), y.take(py, p.y.log); };
    for (const Series& s : p.series)
        for (const FigurePoint& q : s.points) take(q.x, q.y);
    for (const Box& b : p.boxes) take(b.left, b.bottom), take(b.right, b.top);
    for (const auto& [px, py] : besides) take(px, py);
    return {axis_of(p.x, x), axis_of(p.y, y)};
}

}  // namespace tilescope::show
