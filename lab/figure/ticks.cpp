#include "lab/figure/ticks.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/text/numbers.hpp"

namespace tilescope::lab {
namespace {

struct AxisUnit {
    double one;
    const char* name;
};

/// The largest unit that is not above `largest`, or else the smallest unit. Scales without units have the unit 1.
AxisUnit unit_for(Scale scale, double largest) {
    constexpr AxisUnit bytes[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}},
                       seconds[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}},
                       speeds[] = {{1e15, "PFLOP/s"}, {1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}};
    const auto first = [&](std::span<const AxisUnit> units) {
        for (const AxisUnit& u : units)
            if (largest >= u.one) return u;
        return units.back();
    };
    switch (scale) {
        case Scale::bytes:
            return first(bytes);
        case Scale::seconds:
            return first(seconds);
        case Scale::flops_per_s:
            return first(speeds);
        default:
            return {1, ""};
    }
}

}  // namespace

double round_step(double length, int n) {
    const double rough = length / n, power = std::pow(10, std::floor(std::log10(rough)));
    for (const double digit : {1.0, 2.0, 5.0})
        if (digit * power >= rough) return digit * power;
    return 10 * power;
}

std::string brief(double x) {
    constexpr double k = 1024;
    if (x >= k * k && std::fmod(x, k * k) == 0) return text::number(x / k / k) + "M";
    if (x >= k && std::fmod(x, k) == 0) return text::number(x / k) + "k";
    return std::abs(x) < 1e15 && std::floor(x) == x ? text::grouped(std::llround(x)) : text::number(x);
}

std::vector<FigureAxis::Tick> round_sizes(double from, double to, bool log) {
    constexpr int most = 12, enough = 3;
    std::vector<double> at;
    if (log) {
        const double octaves = std::log2(to / from);
        const double factor = std::exp2(std::max(1.0, std::ceil(octaves / most)));
        for (double x = std::exp2(std::ceil(std::log2(from) - 1e-9)); x <= to * (1 + 1e-9); x *= factor)
            at.push_back(x);
    }
    if (std::ssize(at) < enough) {
        constexpr int steps = 9;
        const double least = (to - from) / steps;
        const bool whole = to <= 4096 && least >= 0.5;
        const double step =
            whole ? std::exp2(std::ceil(std::log2(std::max(1.0, least)))) : round_step(to - from, steps);
        at.clear();
        for (double k = std::ceil(from / step - 1e-9); k * step <= to * (1 + 1e-9); ++k) at.push_back(k * step);
        if (at.empty() || at[0] - from > step / 2) at.insert(at.begin(), from);
    }
    std::vector<FigureAxis::Tick> ticks;
    for (const double x : at) ticks.push_back({x, brief(x)});
    return ticks;
}

double in_one_unit(FigureAxis& axis, double largest) {
    if (axis.log || !(largest > 0)) return 1;
    constexpr int steps = 6;
    const AxisUnit unit = unit_for(axis.scale, largest);
    const double step = round_step(largest / unit.one, steps);
    const double last = std::ceil(largest / unit.one / step - 1e-9);
    axis.from = 0, axis.to = last * step * unit.one;
    axis.ticks.clear();
    for (double k = 0; k <= last; ++k)
        axis.ticks.push_back(
            {k * step * unit.one, step < 1 ? text::number(k * step) : text::grouped(std::llround(k * step))});
    axis.unit = unit.name;
    return unit.one;
}

}  // namespace tilescope::lab
