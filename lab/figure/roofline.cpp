// Algorithms under the GPU's roofs: FLOPs per byte at a level, and FLOPs per second.
#include <algorithm>
#include <cmath>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "core/time/rates.hpp"
#include "lab/figure/kinds.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// The most that the machine can do, by the data sheet, or by measurements where these are more. The roof of a level of
/// memory rises; roofs of computing are flat.
struct Roof {
    std::string title;
    double per_second;  ///< FLOP/s, or B/s of a level
    bool level;
};

/// `narrow`: with the roof of products of 8 bits, which take half the time of those of 16.
std::vector<Roof> roofs_of(const GpuSpec& g, bool narrow) {
    const Rates r = rates_of(g);
    const double sms = static_cast<double>(g.sms);
    const auto& [cuda, light, several] = r.clock_mhz;
    const double tensor_clock = std::max(light, several) * 1e6;
    const double clock = std::max({g.clock_mhz * 1e6, cuda * 1e6, tensor_clock});
    std::vector<Roof> roofs;
    const auto add = [&](const std::string& name, double x, bool level) {
        roofs.push_back({message("roofline.roof", name, text::count(x) + (level ? "B/s" : "FLOP/s")), x, level});
    };
    const double tensor = std::max(g.tensor_tflops * 1e12, r.tensor * sms * tensor_clock);
    add(message(narrow ? "roofline.tensor_cores_in_8_bits" : "roofline.tensor_cores"), narrow ? 2 * tensor : tensor,
        false);
    add("FP32", std::max(g.fp32_tflops * 1e12, 2 * r.fma * sms * cuda * 1e6), false);
    add("SRAM", r.sram * sms * clock, true);
    add("L2", r.l2 * clock, true);
    add("DRAM", std::max({g.hbm_gbs, r.read_gbs, r.copy_gbs}) * 1e9, true);
    return roofs;
}

constexpr double least_intensity = 0.5, usually_most = 16384;  // FLOP/B
constexpr double usually_least = 1e12;                         // FLOP/s

/// The least of ..., 1, 2, 5, 10, 20, ... that is not below x.
double rounded_up(double x) {
    const double power = std::pow(10, std::floor(std::log10(x)));
    for (const double digit : {1.0, 2.0, 5.0})
        if (digit * power >= x) return digit * power;
    return 10 * power;
}

/// Adds the roofs behind the points, and sets the ranges of the axes.
void add_roofs(Panel& p, const GpuSpec& gpu, const Problem& problem) {
    double most = usually_most;
    double left = least_intensity, lowest = *p.y.from;
    for (const Series& s : p.series)
        for (const FigurePoint& point : s.points) {
            most = std::max(most, 2 * point.x);
            left = std::min(left, point.x / 2), lowest = std::min(lowest, point.y / 2);
        }
    const auto points = static_cast<std::ptrdiff_t>(p.series.size());
    const auto roofs = roofs_of(gpu, size_of(problem.query_type()) == 1);
    double highest = 0;
    for (const Roof& r : roofs)
        if (!r.level) highest = std::max(highest, r.per_second);
    constexpr double above = 2, below = 50;  // y axis: from highest roof / below, to above * highest roof
    lowest = std::min(lowest, highest / below);
    p.x.from = left, p.x.to = most, p.y.from = lowest, p.y.to = rounded_up(above * highest);
    for (const Roof& r : roofs) {
        const bool top = r.per_second == highest;
        const double label = r.level ? std::max(left, lowest / r.per_second) * 1.8 : top ? most : most / 20;
        const double end = r.level ? highest / r.per_second : most;
        const auto height = [&](double x) { return r.level ? r.per_second * x : r.per_second; };
        p.series.push_back({"", r.level ? Look::line : Look::dashes, 7, {{left, height(left)}, {end, height(end)}}});
        p.series.push_back({"", Look::words, -1, {{label, height(label), r.title, r.level ? 1.0 : 0}}});
        const bool last = &r == &roofs.back();  // so that its words do not meet those of the level above
        p.series.back().side = r.level ? (last ? Side::under : Side::from) : top ? Side::upto : Side::below;
    }
    std::rotate(p.series.begin(), p.series.begin() + points, p.series.end());
}

/// Whether every variant does the same work at each point of its path.
bool same_work(const std::vector<Outcome>& outcomes, std::size_t variants) {
    const std::size_t each = outcomes.size() / variants;
    std::vector<std::optional<double>> flops(each);
    for (std::size_t k = 0; k < outcomes.size(); ++k) {
        if (!outcomes[k].report) continue;
        const double own = outcomes[k].report->useful_flops();
        std::optional<double>& first = flops[k % each];
        if (first.value_or(own) != own) return false;
        first = own;
    }
    return true;
}

}  // namespace

/// Both axes have the same FLOPs, so that the roof above a dot is the limit that the dot's bytes set.
RooflineDot roofline_dot(const Report& r) {
    const auto over = [&](Bytes bytes) {
        return bytes > 0 ? std::optional(r.useful_flops() / static_cast<double>(bytes)) : std::nullopt;
    };
    const auto dram = r.dram();
    return {over(r.counters.hbm()), over(dram ? dram->total() : 0), r.useful_flops_per_s()};
}

Figure roofline(const FigureRequest& r) {
    const auto variants = variants_of(r, {"standard", "flash_v1", "flash_v2"});
    const std::vector<SweepAxis> vary = r.vary;
    std::vector<FigureCase> cases;
    const SweepAxis path =
        vary.empty() ? SweepAxis{"seq", {}} : axis_of(r, (vary[0].key + "=" + vary[0].values[0]).c_str());
    for (const Variant& v : variants) {
        if (path.values.empty()) cases.push_back({&v, {}});
        for (const std::string& value : path.values) cases.push_back({&v, {{path.key, value}}});
    }
    FigureRequest usual = r;
    usual.options = with_usual_sizes(r.options, 64, 4096);
    const auto outcomes = outcomes_of(usual, cases);
    of_one_gpu("roofline", outcomes);
    const GpuSpec& gpu = outcomes[0].experiment.gpu;
    Panel p{"",
            {message("roofline.intensity"), Scale::plain, true, least_intensity, usually_most},
            {"", Scale::flops_per_s, true, usually_least, std::nullopt}};
    std::vector<std::string> unknown;
    const std::size_t each = std::max<std::size_t>(1, path.values.size());
    for (std::size_t v = 0; v < variants.size(); ++v)
        for (const bool of_dram : {false, true}) {
            Series s{message(of_dram ? "roofline.by_dram_traffic" : "roofline.by_sm_traffic", variants[v].title),
                     path.values.empty() ? (of_dram ? Look::open_points : Look::points)
                     : of_dram           ? Look::dots
                                         : Look::measured_line,
                     static_cast<int>(v)};
            for (std::size_t k = 0; k < each; ++k) {
                const auto& report = outcomes[v * each + k].report;
                if (!report) continue;
                const RooflineDot dot = roofline_dot(*report);
                const auto& x = of_dram ? dot.dram_intensity : dot.sm_intensity;
                if (x && dot.flops_per_s) s.points.push_back({*x, *dot.flops_per_s});
            }
            if (s.points.empty()) {
                unknown.push_back(s.title);
                continue;
            }
            p.series.push_back(s);
            if (!path.values.empty()) p.series.push_back({"", Look::rings, static_cast<int>(v), {s.points.front()}});
        }
    add_roofs(p, gpu, outcomes[0].experiment.problem);
    std::vector<std::string> of_all = {
        message(gpu.l2_read_bytes_per_clk ? "roofline.roofs" : "roofline.roofs_without_l2"),
        message(variants.size() == 1                   ? "roofline.dots"
                : same_work(outcomes, variants.size()) ? "roofline.dots_of_same_work"
                                                       : "roofline.dots_of_own_work"),
        message(path.values.empty() ? "roofline.points" : "roofline.lines")};
    if (!path.values.empty())
        of_all.push_back(message("roofline.rings", path.key, path.values.front(), path.values.back()));
    if (!unknown.empty()) of_all.push_back(message("roofline.not_known", text::join(unknown, ", ")));
    if (std::any_of(outcomes.begin(), outcomes.end(), lacks_dram)) of_all.push_back(message("roofline.lacks_dram"));
    of_all.push_back(setups_text(variants, outcomes, path.values.empty() ? "" : path.key));
    return {"roofline", message("roofline.title", gpu.name), {p}, text::sentences(of_all), r.command};
}

}  // namespace tilescope::lab
