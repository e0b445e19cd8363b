#include "cli/plot_measured.hpp"

#include <algorithm>
#include <cmath>

#include "cli/measured_cases.hpp"
#include "core/text/numbers.hpp"
#include "lab/figure/ticks.hpp"
#include "lab/flags/command.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

using Cases = std::vector<MeasuredCase>;

/// Kernels that are told apart, those with fewest cases that matter first: later ones are drawn over them.
constexpr struct Family {
    const char* title;
    Look look;
    int colour;
} families[] = {{"softmax_*", Look::crosses, -1},
                {"three_pass", Look::open_points, 3},
                {"two_pass", Look::open_points, 5},
                {"standard", Look::open_points, 4},
                {"chunked", Look::open_points, 6},
                {"memory_efficient", Look::open_points, 2},
                {"flash_v2, f32", Look::open_points, 0},
                {"flash_v1", Look::open_points, 7},
                {"split_kv, f32", Look::open_points, 1},
                {"split_kv, tensor cores", Look::points, 2},
                {"flash_v2, tensor cores", Look::points, 1},
                {"PyTorch's FlashAttention-2", Look::points, 0}};

std::string family_of(const MeasuredCase& c) {
    if (c.library) return "PyTorch's FlashAttention-2";
    if (!has_head_dims(c)) return "softmax_*";
    const std::string name = c.experiment.algorithm->name;
    if (c.experiment.problem.dtype != Dtype::f32) return name + ", tensor cores";
    return name == "flash_v2" || name == "split_kv" ? name + ", f32" : name;
}

void check(const FigureRequest& r, const char* name) {
    if (!r.variants.empty() || !r.vary.empty() || !r.metric.empty() || !flags_of(r.options).empty())
        throw UsageError(std::string("plot ") + name +
                         ": draws every measured case; leave out algorithms and flags of a problem, or ask "
                         "`tilescope measured`");
}

/// A point of every case of a family that has both numbers.
template <class F>
void add_families(Panel& p, const Cases& cases, const std::string& gpu, F&& point) {
    for (const Family& family : families) {
        Series s{family.title, family.look, family.colour};
        s.small = true;
        for (const MeasuredCase& c : cases)
            if (c.gpu == gpu && c.us && c.modelled_us && family_of(c) == family.title) s.points.push_back(point(c));
        if (!s.points.empty()) p.series.push_back(s);
    }
}

constexpr double off = 0.25;  // what docs/validation.md asks for

Panel times_on(const std::string& gpu, const Cases& cases) {
    constexpr double from = 5e-6, to = 1;
    Panel p{"on " + gpu,
            {"time (modelled)", Scale::seconds, true, from, to},
            {"time (measured)", Scale::seconds, true, from, to}};
    p.series.push_back({"equal", Look::border, -1, {{from, from}, {to, to}}});
    p.series.push_back({"25% off", Look::dashes, 7, {{from * (1 + off), from}, {to, to / (1 + off)}}});
    p.series.push_back({"", Look::dashes, 7, {{from, from / (1 - off)}, {to * (1 - off), to}}});
    add_families(p, cases, gpu, [](const MeasuredCase& c) { return FigurePoint{*c.modelled_us / 1e6, *c.us / 1e6}; });
    return p;
}

Panel errors_on(const std::string& gpu, const Cases& cases) {
    constexpr double from = 5e-6, to = 1;
    Panel p{"on " + gpu,
            {"time (measured)", Scale::seconds, true, from, to},
            {"modelled over measured, minus 1", Scale::percent, false, -30.0, 30.0}};
    p.series.push_back({"equal", Look::border, -1, {{from, 0}, {to, 0}}});
    for (const double y : {-100 * off, 100 * off})
        p.series.push_back({y < 0 ? "25% off" : "", Look::dashes, 7, {{from, y}, {to, y}}});
    add_families(p, cases, gpu, [](const MeasuredCase& c) {
        return FigurePoint{*c.us / 1e6, 100 * (*c.time_ratio() - 1)};
    });
    constexpr double step = 10;
    for (const Series& s : p.series)
        for (const FigurePoint& q : s.points) {
            p.y.from = std::min(*p.y.from, std::floor(q.y / step) * step);
            p.y.to = std::max(*p.y.to, std::ceil(q.y / step) * step);
        }
    return p;
}

Figure validation_time(const FigureRequest& r) {
    check(r, "validation-time");
    Cases cases = shipped_cases();
    const Cases all = cases;
    add_model(cases, all);
    std::vector<std::string> machines;
    for (const MeasuredCase& c : cases)
        if (std::ranges::find(machines, c.gpu) == machines.end()) machines.push_back(c.gpu);
    Figure f{"validation-time", "Modelled time beside measured time", {}, "", r.command};
    for (const std::string& gpu : machines) f.panels.push_back(times_on(gpu, cases));
    for (const std::string& gpu : machines) f.panels.push_back(errors_on(gpu, cases));
    const auto drawn = std::ranges::count_if(cases, [](const MeasuredCase& c) { return c.us && c.modelled_us; });
    f.of_all = "Every case that was measured, " + text::grouped(drawn) +
               " in all: modelled times, and medians of measured ones with warm caches; of PyTorch's kernel without "
               "what a call costs. docs/validation.md explains what is far off.";
    return f;
}

// ---- Bytes, and the ladder's times

Panel bytes_panel(const Cases& cases) {
    constexpr double from = 1e5, to = 1e11;
    Panel p{"bytes, every f32 case",
            {"SM traffic (counted)", Scale::bytes, true, from, to},
            {"between SMs and L2 (measured)", Scale::bytes, true, from, to}};
    p.series.push_back({"equal", Look::border, -1, {{from, from}, {to, to}}});
    Series reads{"read", Look::open_points, 0}, writes{"written", Look::crosses, 1};
    reads.small = writes.small = true;
    for (const MeasuredCase& c : cases) {
        if (!c.read || !c.write) continue;
        const Counters counted = count(c.experiment).counters;
        reads.points.push_back({static_cast<double>(counted.hbm_read), *c.read});
        writes.points.push_back({static_cast<double>(counted.hbm_write), *c.write});
    }
    p.series.push_back(reads);
    p.series.push_back(writes);
    return p;
}

Panel ladder_panel(const Cases& cases) {
    Panel p{"time, N = 4,096, d = 64, 128 heads", {""}, {"time (measured)", Scale::seconds}};
    std::vector<std::string> names;
    for (const MeasuredCase& c : cases) {
        const Problem& w = c.experiment.problem;
        if (w.seq_q != 4096 || w.seq_k != 4096 || w.dim != 64 || w.batch_heads() != 128 || !has_head_dims(c)) continue;
        const std::string name = c.experiment.algorithm->title;
        const auto at = std::ranges::find(names, name);
        const double x = static_cast<double>(at - names.begin()), seconds = *c.us / 1e6;
        if (at == names.end()) p.x.ticks.push_back({x, name}), names.push_back(name);
        const bool causal = w.mask.is_causal();
        const double left = causal ? x : x - 0.4;
        p.boxes.push_back({left, left + 0.4, 0, seconds, causal ? 4 : 0, 0, false, causal ? "causal" : "not causal"});
        p.series.push_back({"", Look::words, -1, {{left + 0.2, seconds, text::number(std::round(seconds * 1e3))}}});
    }
    p.x.from = -0.6, p.x.to = static_cast<double>(names.size()) - 0.4;
    double longest = 0;
    for (const Box& b : p.boxes) longest = std::max(longest, b.top);
    in_one_unit(p.y, with_label * longest);
    return p;
}

Figure validation(const FigureRequest& r) {
    check(r, "validation");
    Cases cases = shipped_cases();
    std::erase_if(cases, [](const MeasuredCase& c) {
        return c.gpu != "H200" || c.library || c.experiment.problem.dtype != Dtype::f32 || !c.us;
    });
    return {"validation",
            "Counted beside measured, on an H200",
            {bytes_panel(cases), ladder_panel(cases)},
            "Bytes are counted, and measured by Nsight Compute; times of f32 kernels are measured, medians with warm "
            "caches. docs/validation.md explains every difference above 1%.",
            r.command};
}

constexpr FigureKind kinds[] = {
    {"validation", "counted beside measured bytes, and the ladder's measured times (H200)", validation},
    {"validation-time", "modelled beside measured times of all measured cases", validation_time},
};

}  // namespace

std::span<const FigureKind> measured_figure_kinds() { return kinds; }

}  // namespace tilescope::cli
