#include "device/measured_figures.hpp"

#include <algorithm>
#include <cmath>

#include "core/machine/counters.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "device/measured_cases.hpp"
#include "lab/figure/ticks.hpp"
#include "lab/flags/command.hpp"

namespace tilescope::device {
using namespace lab;
using text::message;
namespace {

/// Which kernels of an algorithm a family has.
enum class Kernels : std::uint8_t { all, on_cuda_cores, on_tensor_cores };

/// Kernels that have their own points. The least important come first: later ones are drawn over them.
constexpr struct Family {
    const char* algorithm;
    Kernels kernels;
    Look look;
    int colour;

    std::string title() const {
        constexpr const char* titles[] = {"measured_figure.all_kernels", "measured_figure.on_cuda_cores",
                                          "measured_figure.on_tensor_cores"};
        return message(titles[static_cast<std::size_t>(kernels)], find_algorithm(algorithm)->paper.title);
    }
    bool has(const MeasuredCase& c) const {
        const bool f32 = c.experiment.problem.dtype == Dtype::f32;
        return !c.library && c.experiment.algorithm == find_algorithm(algorithm) &&
               (kernels == Kernels::all || f32 == (kernels == Kernels::on_cuda_cores));
    }
} families[] = {{"three_pass", Kernels::all, Look::open_points, 3},
                {"two_pass", Kernels::all, Look::open_points, 5},
                {"standard", Kernels::all, Look::open_points, 4},
                {"chunked", Kernels::all, Look::open_points, 6},
                {"memory_efficient", Kernels::all, Look::open_points, 2},
                {"flash_v2", Kernels::on_cuda_cores, Look::open_points, 0},
                {"flash_v1", Kernels::all, Look::open_points, 7},
                {"split_kv", Kernels::on_cuda_cores, Look::open_points, 1},
                {"split_kv", Kernels::on_tensor_cores, Look::points, 2},
                {"flash_v3", Kernels::on_tensor_cores, Look::points, 3},
                {"flash_v2", Kernels::on_tensor_cores, Look::points, 1}};

void refuse_flags(const FigureRequest& r, const char* name) {
    if (!r.variants.empty() || !r.vary.empty() || !r.metric.empty() || !flags_of(r.options).empty())
        throw UsageError(message("measured_figure.draws_all", name));
}

/// Adds a point for every case that has both numbers: of softmax alone, of each family, of PyTorch's kernel.
template <class F>
void add_families(Panel& p, const MeasuredCases& cases, const std::string& gpu, F&& point) {
    const auto add = [&](const std::string& title, Look look, int colour, auto&& has) {
        Series s{title, look, colour};
        s.small = true;
        for (const MeasuredCase& c : cases)
            if (c.gpu == gpu && c.us && c.modelled_us && has(c)) s.points.push_back(point(c));
        if (!s.points.empty()) p.series.push_back(s);
    };
    add(message("measured_figure.softmax"), Look::crosses, -1,
        [](const MeasuredCase& c) { return !c.library && !has_head_dims(c); });
    for (const Family& family : families)
        add(family.title(), family.look, family.colour, [&](const MeasuredCase& c) { return family.has(c); });
    add(message("measured_figure.pytorch"), Look::points, 0, [](const MeasuredCase& c) { return c.library; });
}

constexpr double off = 0.25;  // what docs/validation.md asks for

Panel times_on(const std::string& gpu, const MeasuredCases& cases) {
    constexpr double from = 5e-6, to = 1;
    Panel p{message("measured_figure.on", gpu),
            {message("measured_figure.modelled_time"), Scale::seconds, true, from, to},
            {message("measured_figure.measured_time"), Scale::seconds, true, from, to}};
    p.series.push_back({message("measured_figure.equal"), Look::border, -1, {{from, from}, {to, to}}});
    p.series.push_back(
        {message("measured_figure.off"), Look::dashes, 7, {{from * (1 + off), from}, {to, to / (1 + off)}}});
    p.series.push_back({"", Look::dashes, 7, {{from, from / (1 - off)}, {to * (1 - off), to}}});
    add_families(p, cases, gpu, [](const MeasuredCase& c) { return FigurePoint{*c.modelled_us / 1e6, *c.us / 1e6}; });
    return p;
}

Panel errors_on(const std::string& gpu, const MeasuredCases& cases) {
    constexpr double from = 5e-6, to = 1;
    Panel p{message("measured_figure.on", gpu),
            {message("measured_figure.measured_time"), Scale::seconds, true, from, to},
            {message("measured_figure.ratio"), Scale::percent, false, -30.0, 30.0}};
    p.series.push_back({message("measured_figure.equal"), Look::border, -1, {{from, 0}, {to, 0}}});
    for (const double y : {-100 * off, 100 * off})
        p.series.push_back({y < 0 ? message("measured_figure.off") : "", Look::dashes, 7, {{from, y}, {to, y}}});
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
    refuse_flags(r, "validation-time");
    MeasuredCases cases = shipped_cases();
    const MeasuredCases all = cases;
    add_model(cases, all, r.control);
    std::vector<std::string> machines;
    for (const MeasuredCase& c : cases)
        if (std::ranges::find(machines, c.gpu) == machines.end()) machines.push_back(c.gpu);
    Figure f{"validation-time", message("measured_figure.times"), {}, "", r.command};
    for (const std::string& gpu : machines) f.panels.push_back(times_on(gpu, cases));
    for (const std::string& gpu : machines) f.panels.push_back(errors_on(gpu, cases));
    for (Panel& p : f.panels) {
        std::size_t drawn = 0;
        for (const Series& s : p.series) drawn += s.small ? s.points.size() : 0;
        p.title = message("measured_figure.with_cases", p.title, drawn);
    }
    f.of_all = message("measured_figure.about_times");
    return f;
}

// ---- Bytes, and the ladder's times

Panel bytes_panel(const MeasuredCases& cases) {
    constexpr double from = 1e5, to = 1e11;
    Panel p{message("measured_figure.bytes"),
            {message("measured_figure.counted_traffic"), Scale::bytes, true, from, to},
            {message("measured_figure.measured_traffic"), Scale::bytes, true, from, to}};
    p.series.push_back({message("measured_figure.equal"), Look::border, -1, {{from, from}, {to, to}}});
    Series reads{message("measured_figure.read"), Look::open_points, 0},
        writes{message("measured_figure.written"), Look::crosses, 1};
    reads.small = writes.small = true;
    for (const MeasuredCase& c : cases) {
        if (!c.read || !c.write) continue;
        const Counters counted = count(c.experiment).counters;
        reads.points.push_back({static_cast<double>(counted.hbm_read), *c.read});
        writes.points.push_back({static_cast<double>(counted.hbm_write), *c.write});
    }
    p.series.push_back(reads);
    p.series.push_back(writes);
    p.caption = message("measured_figure.about_bytes");
    return p;
}

Panel ladder_panel(const MeasuredCases& cases) {
    Panel p{message("measured_figure.ladder"), {""}, {message("measured_figure.measured_time"), Scale::seconds}};
    std::vector<std::string> names;
    for (const MeasuredCase& c : cases) {
        const Problem& w = c.experiment.problem;
        if (w.seq_q != 4096 || w.seq_k != 4096 || w.dim != 64 || w.batch_heads() != 128 || !has_head_dims(c)) continue;
        const std::string name = c.experiment.algorithm->paper.title;
        const auto at = std::ranges::find(names, name);
        const double x = static_cast<double>(at - names.begin()), seconds = *c.us / 1e6;
        if (at == names.end()) p.x.ticks.push_back({x, name}), names.push_back(name);
        const bool causal = w.mask.is_causal();
        const double left = causal ? x : x - 0.4;
        p.boxes.push_back({left, left + 0.4, 0, seconds, causal ? 4 : 0, 0, false,
                           message(causal ? "measured_figure.causal" : "measured_figure.not_causal")});
        p.series.push_back({"", Look::words, -1, {{left + 0.2, seconds, text::number(std::round(seconds * 1e3))}}});
    }
    p.x.from = -0.6, p.x.to = static_cast<double>(names.size()) - 0.4;
    double longest = 0;
    for (const Box& b : p.boxes) longest = std::max(longest, b.top);
    in_one_unit(p.y, with_label * longest);
    p.caption = message("measured_figure.about_ladder");
    return p;
}

Figure validation(const FigureRequest& r) {
    refuse_flags(r, "validation");
    MeasuredCases cases = shipped_cases();
    const std::string gpu = cases.at(0).gpu;
    std::erase_if(cases, [&](const MeasuredCase& c) {
        return c.gpu != gpu || c.library || c.experiment.problem.dtype != Dtype::f32 || !c.us;
    });
    return {"validation",
            message("measured_figure.f32_kernels", gpu),
            {bytes_panel(cases), ladder_panel(cases)},
            "",
            r.command};
}

constexpr FigureKind kinds[] = {
    {"validation", "figure.about_validation", validation},
    {"validation-time", "figure.about_validation_time", validation_time},
};

}  // namespace

std::span<const FigureKind> measured_figure_kinds() { return kinds; }

}  // namespace tilescope::device
