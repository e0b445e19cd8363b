// Figures with a curve for every algorithm: metrics against a size, with the curves and bounds of theory.
#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/contract/kernel_description.hpp"
#include "core/machine/error.hpp"
#include "core/machine/sorted.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/figure/kinds.hpp"
#include "lab/figure/ticks.hpp"

namespace tilescope::lab {
using text::message;
namespace {

std::string beyond_hbm_title() { return message("against.beyond_hbm"); }

/// A panel of these figures: a metric, with its titles.
struct Shown {
    const char* metric;
    std::string title, caption = "";
};

struct Against {
    const char* name;
    std::string title;
    const char* usual_axis;
    std::string x_title;
    std::vector<Shown> panels;
    std::string caption;
    bool log_x = true, log_y = true;
    TileRule rule = TileRule::common;
    Objective objective = Objective::time;
};

/// Appends the sentence to the caption, unless it is empty.
void say(std::string& caption, const std::string& sentence) {
    if (!sentence.empty()) caption = text::sentences({caption, sentence});
}

/// The outcomes of a figure, a row of them for each variant.
struct Grid {
    std::vector<Variant> variants;
    SweepAxis axis;
    std::vector<Outcome> outcomes;

    const Outcome& at(std::size_t v, std::size_t k) const { return outcomes[v * axis.values.size() + k]; }
    double x(std::size_t k) const { return number_in(axis.values[k]); }
    /// The variant that is an algorithm without settings.
    std::optional<std::size_t> plain(std::string_view algorithm) const {
        for (std::size_t v = 0; v < variants.size(); ++v)
            if (variants[v].settings.empty() && variants[v].algorithm->name == algorithm) return v;
        return std::nullopt;
    }
    const Report& some() const {
        return *std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome& o) { return o.report; })->report;
    }
};

/// What the metrics of the panels are made of.
Studied studied_in(const Against& a) {
    const auto counted = [](const Shown& s) { return find_metric(s.metric)->evidence == Evidence::counted; };
    return std::all_of(a.panels.begin(), a.panels.end(), counted) ? Studied::counts : Studied::times;
}

Grid grid_of(const FigureRequest& r, const Against& a, std::initializer_list<const char*> usual) {
    Grid g{variants_of(r, usual), axis_of(r, a.usual_axis), {}};
    std::vector<FigureCase> cases;
    for (const Variant& v : g.variants)
        for (const std::string& value : g.axis.values) cases.push_back({&v, {{g.axis.key, value}}});
    g.outcomes = outcomes_of(r, cases, a.rule, a.objective, studied_in(a));
    return g;
}

FigureAxis x_axis(const Grid& g, const Against& a) {
    FigureAxis axis{a.x_title, Scale::plain, a.log_x};
    constexpr std::size_t most = 12, longest = 5;
    const std::size_t n = g.axis.values.size();
    bool short_names = n <= most;
    for (std::size_t k = 0; k < n && short_names; ++k) {
        axis.ticks.push_back({g.x(k), brief(g.x(k))});
        short_names = axis.ticks.back().text.size() <= longest;
    }
    double first = g.x(0), last = first;
    for (std::size_t k = 0; k < n; ++k) first = std::min(first, g.x(k)), last = std::max(last, g.x(k));
    const double room = a.log_x ? std::pow(last / first, 0.03) : (last - first) * 0.03;
    if (!short_names && n > 1) axis.ticks = round_sizes(first, last, a.log_x);
    sort_stably(axis.ticks, [](const auto& one, const auto& other) { return one.at < other.at; });
    axis.from = a.log_x ? first / room : first - room;
    axis.to = a.log_x ? last * room : last + room;
    if (n == 1) axis.from = first / 2, axis.to = first * 2;
    return axis;
}

/// Adds the curves of a metric; points whose tensors do not fit in HBM are crossed out.
void add_curves(Panel& panel, const Grid& g, const Metric& m) {
    Series beyond{beyond_hbm_title(), Look::crosses, -1};
    for (std::size_t v = 0; v < g.variants.size(); ++v) {
        Series curve{g.variants[v].title, Look::measured_line, static_cast<int>(v)};
        for (std::size_t k = 0; k < g.axis.values.size(); ++k) {
            const auto& report = g.at(v, k).report;
            const auto y = report ? on_axis(m, *report) : std::nullopt;
            if (!y || (panel.y.log && *y <= 0)) continue;
            curve.points.push_back({g.x(k), *y});
            if (!report->fits_hbm()) beyond.points.push_back({g.x(k), *y});
        }
        if (!curve.points.empty()) panel.series.push_back(curve);
    }
    if (!beyond.points.empty()) panel.series.push_back(beyond);
}

double largest(const Panel& p) {
    double most = 0;
    for (const Series& s : p.series)
        for (const FigurePoint& q : s.points) most = std::max(most, q.y);
    return most;
}

/// For a caption: at which values curves have no points, and why. Empty where curves have all points.
std::string without_points(const Grid& g) {
    std::string words;
    for (std::size_t v = 0; v < g.variants.size(); ++v) {
        std::vector<std::string> values;
        const std::size_t all = g.axis.values.size();
        for (std::size_t k = 0; k < all; ++k)
            if (!g.at(v, k).report) values.push_back(brief(g.x(k)));
        if (values.empty()) continue;
        constexpr std::size_t most = 4;
        say(words, message("against.no_room", text::capitalised(g.variants[v].title), g.axis.key,
                           values.size() > most ? message("figure.from_to", values.front(), values.back())
                                                : text::join(values, ", ")));
    }
    return words;
}

/// For a caption: where times ignore the limit of DRAM. Empty where no time is drawn, or none ignores it.
std::string without_dram(const Against& a, const Grid& g) {
    const auto of_time = [](const Shown& s) {
        const MetricUnit unit = find_metric(s.metric)->unit;
        return unit == MetricUnit::microseconds || unit == MetricUnit::flops_per_second;
    };
    if (std::none_of(a.panels.begin(), a.panels.end(), of_time)) return "";
    std::vector<std::string> values;
    for (std::size_t k = 0; k < g.axis.values.size(); ++k)
        for (std::size_t v = 0; v < g.variants.size(); ++v)
            if (lacks_dram(g.at(v, k)) && (values.empty() || values.back() != brief(g.x(k))))
                values.push_back(brief(g.x(k)));
    return values.empty() ? "" : message("against.no_dram", g.axis.key, text::listed(values));
}

Figure figure_of(const FigureRequest& r, const Against& a, const Grid& g) {
    Figure f{a.name, a.title, {}, a.caption, r.command};
    for (const std::string& s :
         {setups_text(g.variants, g.outcomes, g.axis.key), without_points(g), without_dram(a, g)})
        say(f.of_all, s);
    for (const Shown& s : a.panels) {
        const Metric& m = *find_metric(s.metric);
        Panel p{s.title, x_axis(g, a), {message("figure.metric", m.title, name_of(m.evidence)), scale_of(m), a.log_y}};
        p.caption = s.caption;
        add_curves(p, g, m);
        if (!a.log_y) in_one_unit(p.y, largest(p));
        f.panels.push_back(p);
    }
    return f;
}

const Series* find(const Panel& p, const std::string& title) {
    for (const Series& s : p.series)
        if (s.title == title) return &s;
    return nullptr;
}

/// Adds `shape`, a formula without its constant factor, scaled to meet the algorithm's curve at its last point that
/// fits in HBM.
template <class F>
bool add_shape(Panel& p, const Grid& g, const char* algorithm, const std::string& title, F&& shape) {
    const auto v = g.plain(algorithm);
    const Series *curve = v ? find(p, g.variants[*v].title) : nullptr, *beyond = find(p, beyond_hbm_title());
    if (!curve) return false;
    const auto fits = [&](const FigurePoint& q) {
        return !beyond || std::none_of(beyond->points.begin(), beyond->points.end(),
                                       [&](auto& b) { return b.x == q.x && b.y == q.y; });
    };
    const auto last = std::find_if(curve->points.rbegin(), curve->points.rend(), fits);
    if (last == curve->points.rend()) return false;
    Series s{message("against.shape", title, curve->title), Look::dots, curve->colour};
    for (std::size_t k = 0; k < g.axis.values.size(); ++k)
        s.points.push_back({g.x(k), last->y * shape(g.x(k)) / shape(last->x)});
    p.series.push_back(s);
    return true;
}

/// Whether bytes grow faster than N² somewhere, which only more passes can cause.
bool jumps(const Series* curve) {
    if (!curve) return false;
    for (std::size_t k = 1; k < curve->points.size(); ++k) {
        const FigurePoint &from = curve->points[k - 1], &to = curve->points[k];
        if (to.x > from.x && to.y / from.y > 1.05 * (to.x / from.x) * (to.x / from.x)) return true;
    }
    return false;
}

/// Whether reads from DRAM are at most 1.5 times the compulsory reads at some point, and more at a later point.
bool leaves_l2(const Grid& g, std::size_t v) {
    bool within = false;
    for (std::size_t k = 0; k < g.axis.values.size(); ++k) {
        const auto& report = g.at(v, k).report;
        const auto dram = report ? report->dram() : std::nullopt;
        if (!dram) continue;
        const bool more = static_cast<double>(dram->read) > 1.5 * static_cast<double>(report->compulsory_read());
        if (more && within) return true;
        within = within || !more;
    }
    return false;
}

/// Whether the last point of a curve is less than 1% below the point before, or above it.
bool levels_off(const Series& s) {
    const std::size_t n = s.points.size();
    return s.look == Look::measured_line && n > 1 && s.points[n - 1].y > 0.99 * s.points[n - 2].y;
}

/// Whether somewhere a step of 1 along the axis (one more head) adds a wave.
bool shows_waves(const Grid& g) {
    const auto waves = [&](std::size_t v, std::size_t k) -> Count {
        const auto& report = g.at(v, k).report;
        if (!report || !report->time) return 0;
        const LaunchTime& l = report->time->longest();
        return l.residency.blocks > 0 ? ceil_div(l.blocks, report->experiment.gpu.sms * l.residency.blocks) : 0;
    };
    for (std::size_t v = 0; v < g.variants.size(); ++v)
        for (std::size_t k = 1; k < g.axis.values.size(); ++k)
            if (g.x(k) - g.x(k - 1) == 1 && waves(v, k - 1) > 0 && waves(v, k) > waves(v, k - 1)) return true;
    return false;
}

/// Whether an SM has room for several thread blocks.
bool shares_sms(const Grid& g) {
    return std::any_of(g.outcomes.begin(), g.outcomes.end(), [](const Outcome& o) {
        return o.report && o.report->time && o.report->time->longest().residency.blocks > 1;
    });
}

/// Whether there is a run without DRAM traffic, because its L2 was not played.
bool not_played(const Grid& g) {
    return std::any_of(g.outcomes.begin(), g.outcomes.end(),
                       [](const Outcome& o) { return o.report && !o.report->dram(); });
}

/// Whether every variant has the same tiles all along the axis.
bool tiles_stay(const Grid& g) {
    for (std::size_t v = 0; v < g.variants.size(); ++v) {
        const Outcome* first = nullptr;
        for (std::size_t k = 0; k < g.axis.values.size(); ++k) {
            const Outcome& o = g.at(v, k);
            if (!o.report) continue;
            if (!first) first = &o;
            const Tiling &a = first->experiment.tiling, &b = o.experiment.tiling;
            if (a.br != b.br || a.bc != b.bc) return false;
        }
    }
    return true;
}

/// Whether the least size has several tiles of rows and of columns, for every variant.
bool many_tiles(const Grid& g) {
    for (std::size_t v = 0; v < g.variants.size(); ++v) {
        const Tiling& t = g.at(v, 0).experiment.tiling;
        if (static_cast<double>(std::max(t.br, t.bc)) > g.x(0) / 2) return false;
    }
    return true;
}

/// Adds the bytes that every algorithm has to move; with `reads`, only the bytes that it has to read.
void add_compulsory(Panel& p, const Grid& g, bool reads = false) {
    Series s{message(reads ? "against.compulsory_reads" : "against.compulsory"), Look::dashes, reads ? 7 : -1};
    for (std::size_t k = 0; k < g.axis.values.size(); ++k)
        for (std::size_t v = 0; v < g.variants.size(); ++v)
            if (const auto& r = g.at(v, k).report) {
                s.points.push_back(
                    {g.x(k), static_cast<double>(r->compulsory_read() + (reads ? 0 : r->compulsory_written()))});
                break;
            }
    if (s.points.size() == 1) s.look = Look::open_points;  // a line needs two points
    p.series.push_back(s);
}

/// Elements that a thread block's SRAM has room for: the papers' M.
double elements(const Experiment& e) {
    return static_cast<double>(e.gpu.sram_per_block) / static_cast<double>(size_of(e.problem.key_type()));
}

/// Saha and Ye (arXiv 2402.07443), theorem 3.1: every algorithm moves at least the order of this number of elements.
double lower_bound(double n, double d, double m) { return std::min(n * n * d / std::sqrt(m), n * n * d * d / m); }

/// Panels of the bytes across the SMs' boundary, and of the bytes from DRAM.
std::vector<Shown> levels() {
    return {{"hbm_bytes", message("against.across_boundary"), message("against.about_sm_traffic")},
            {"dram_read_bytes", message("against.from_dram"), message("against.about_dram")}};
}

void add_compulsory_of_levels(Figure& f, const Grid& g) {
    add_compulsory(f.panels[0], g);
    add_compulsory(f.panels[1], g, true);
}

}  // namespace

Figure io_vs_n(const FigureRequest& r) {
    const Against a{"io-vs-n", message("against.by_length"), "seq=256:128k:x2", message("against.length"), levels(),
                    ""};
    Grid g = grid_of(r, a, {"standard", "flash_v1", "flash_v2"});
    Figure f = figure_of(r, a, g);
    const double d = static_cast<double>(g.some().experiment.problem.dim), m = elements(g.some().experiment);
    std::string &of_sms = f.panels[0].caption, &of_dram = f.panels[1].caption;
    if (const auto v = g.plain("standard"); v && jumps(find(f.panels[0], g.variants[*v].title)))
        say(of_sms, message("against.jumps", text::capitalised(g.variants[*v].title)));
    if (const auto v = g.plain("flash_v1"); v && leaves_l2(g, *v))
        say(of_dram, message("against.leaves_l2", text::capitalised(g.variants[*v].title)));
    if (not_played(g)) say(of_dram, message("against.not_played"));
    const bool grows = g.axis.values.size() > 1;
    if (grows && tiles_stay(g) && many_tiles(g)) say(of_sms, message("against.tiles_stay"));
    const bool s = grows && add_shape(f.panels[0], g, "standard", "N d + N²", [&](double n) { return n * d + n * n; });
    const bool flash = grows && add_shape(f.panels[0], g, "flash_v1", m >= d * d ? "N² d² / M" : "N² d / √M",
                                          [&](double n) { return lower_bound(n, d, m); });
    if (s || flash) say(of_sms, message("against.dotted"));
    if (flash) say(of_sms, message("against.theorem", std::llround(m), std::llround(d * d)));
    add_compulsory_of_levels(f, g);
    return f;
}

Figure io_vs_d(const FigureRequest& r) {
    const Against a{"io-vs-d",
                    message("against.by_dimension"),
                    "dim=16,32,64,96,128,192,256",
                    message("against.dimension"),
                    levels(),
                    ""};
    Grid g = grid_of(r, a, {"standard", "flash_v1", "flash_v2"});
    Figure f = figure_of(r, a, g);
    add_compulsory_of_levels(f, g);
    if (!tiles_stay(g)) say(f.of_all, message("against.curves_bend"));
    return f;
}

Figure io_vs_sram(const FigureRequest& r) {
    const Against a{"io-vs-sram",
                    message("against.by_sram"),
                    "sram=8:512:x2",
                    message("against.sram"),
                    {{"hbm_bytes", message("against.with_best_tiles")}},
                    message("against.about_best_tiles"),
                    true,
                    true,
                    TileRule::best,
                    Objective::sm_traffic};
    FigureRequest usual = r;
    usual.options = with_usual_sizes(r.options, 8, 4096);
    Grid g = grid_of(usual, a, {"standard", "flash_v1", "flash_v2"});
    Figure f = figure_of(r, a, g);
    Panel& p = f.panels[0];
    const Problem& w = g.some().experiment.problem;
    const double n = static_cast<double>(w.seq_q), d = static_cast<double>(w.dim),
                 size = static_cast<double>(size_of(w.key_type()));
    add_compulsory(p, g);
    // The bound has no constant: it is scaled to touch the counted curves from below.
    if (g.axis.values.size() == 1) return f;
    const auto bound = [&](double kib) { return lower_bound(n, d, kib * 1024 / size); };
    double constant = std::numeric_limits<double>::infinity();
    for (const Series& curve : p.series)
        if (curve.look == Look::measured_line)
            for (const FigurePoint& q : curve.points) constant = std::min(constant, q.y / bound(q.x));
    Series s{message("against.bound"), Look::dots, -1};
    for (std::size_t k = 0; k < g.axis.values.size(); ++k) s.points.push_back({g.x(k), constant * bound(g.x(k))});
    p.series.push_back(s);
    const double turn = d * d * size / 1024;  // M = d²
    const bool turns = turn > *p.x.from && turn < *p.x.to;
    if (turns) p.series.push_back({"", Look::open_points, -1, {{turn, constant * bound(turn), "M = d²"}}});
    say(f.of_all, message("against.about_bound"));
    if (turns) say(f.of_all, message("against.bound_turns"));
    if (std::any_of(p.series.begin(), p.series.end(), levels_off)) say(f.of_all, message("against.curves_level_off"));
    return f;
}

Figure io_vs_block(const FigureRequest& r) {
    FigureRequest of_paper = of_flash_attentions_figure_2(r);
    const bool own_rows = of_paper.options.br != "auto";
    if (!own_rows) of_paper.options.br = "64";
    Against a{"io-vs-block",
              message("against.by_block"),
              "bc=64,128,256,512",
              message("against.block"),
              {{"hbm_bytes", message("against.accesses"), message("against.traffic_counted")},
               {"time_us", message("against.time"), message("against.time_modelled")}},
              "",
              true,
              false};
    const Grid g = grid_of(of_paper, a, {"flash_v1"});
    const auto of_64 = [](const Outcome& o) {
        return o.experiment.algorithm->kernel->by_paper_rule && o.experiment.problem.dim == 64 &&
               o.experiment.tiling.br == 64 && o.experiment.tiling.bc >= 64;
    };
    if (!own_rows && std::all_of(g.outcomes.begin(), g.outcomes.end(), of_64))
        a.caption = message("against.as_in_paper");
    Figure f = figure_of(of_paper, a, g);
    const auto falls = [](const Series& s) { return s.points.size() > 1 && s.points.back().y < s.points.front().y; };
    const auto& curves = f.panels[0].series;
    if (!std::all_of(curves.begin(), curves.end(), falls)) f.title = message("against.by_block_otherwise");
    return f;
}

Figure footprint(const FigureRequest& r) {
    const Against a{"footprint",
                    message("against.footprint"),
                    "seq=256:128k:x2",
                    message("against.length"),
                    {{"hbm_extra_bytes", ""}},
                    message("against.about_footprint")};
    Grid g = grid_of(r, a, {"standard", "flash_v1", "flash_v2", "memory_efficient", "chunked"});
    Figure f = figure_of(r, a, g);
    if (find(f.panels[0], beyond_hbm_title())) say(f.of_all, message("against.crosses"));
    add_compulsory(f.panels[0], g);
    for (const Variant& v : g.variants)
        if (!find(f.panels[0], v.title)) say(f.of_all, message("against.has_none", text::capitalised(v.title)));
    return f;
}

Figure waves(const FigureRequest& r) {
    const Against a{"waves",
                    message("against.waves"),
                    "heads=1:64:+1",
                    message("against.heads"),
                    {{"time_us", message("against.time")}, {"useful_flops_per_s", message("against.speed")}},
                    message("figure.modelled"),
                    false,
                    false};
    const Grid g = grid_of(r, a, {"flash_v2", "flash_v1"});
    Figure f = figure_of(r, a, g);
    if (shows_waves(g)) say(f.of_all, message(shares_sms(g) ? "against.wave_and_step" : "against.wave"));
    return f;
}

}  // namespace tilescope::lab
