// The plane of tile sizes in the colours of a metric: which tiles fit, their limits, and tiles that people chose.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/figure/kinds.hpp"
#include "lab/flags/request.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/published_tiles.hpp"
#include "lab/study/tile_search.hpp"

namespace tilescope::lab {
using text::message;
namespace {

const SweepAxis& axis_named(const std::vector<SweepAxis>& axes, const char* key, const SweepAxis& usual) {
    const auto found = std::find_if(axes.begin(), axes.end(), [&](const SweepAxis& a) { return a.key == key; });
    return found != axes.end() ? *found : usual;
}

std::vector<FigureAxis::Tick> ticks_of(const std::vector<std::string>& values) {
    std::vector<FigureAxis::Tick> ticks;
    for (std::size_t k = 0; k < values.size(); k += 1 + (values.size() - 1) / 16)
        ticks.push_back({static_cast<double>(k), values[k]});
    return ticks;
}

/// A size's position on an axis of `values`; between two values, in proportion to the logarithms.
std::optional<double> position(const std::vector<std::string>& values, Index size) {
    const double s = std::log(static_cast<double>(size));
    for (std::size_t k = 0; k < values.size(); ++k) {
        const double at = std::log(number_in(values[k]));
        if (std::abs(at - s) < 1e-9) return static_cast<double>(k);
        if (k + 1 < values.size())
            if (const double next = std::log(number_in(values[k + 1])); at < s && s < next)
                return static_cast<double>(k) + (s - at) / (next - at);
    }
    return std::nullopt;
}

struct Plane {
    SweepAxis rows, cols;
    std::vector<Outcome> outcomes;
    const Outcome& at(std::size_t i, std::size_t j) const { return outcomes[i * cols.values.size() + j]; }
};

void add_mark(Panel& p, const Plane& plane, Tiling t, const std::string& label, Look look, int colour) {
    const auto x = position(plane.cols.values, t.bc), y = position(plane.rows.values, t.br);
    if (x && y) p.series.push_back({label, look, colour, {{*x, *y}}});
}

/// Whether registers spill: the counts still hold, but no kernel would run like that.
bool spills(const Report& r) { return r.time && r.time->spills(); }

std::optional<double> value_of(const Outcome& o, const Metric& m) {
    if (!o.report || (m.evidence == Evidence::modelled && spills(*o.report))) return std::nullopt;
    return on_axis(m, *o.report);
}

/// The pattern of a cell without a number, and the reason as a text.
std::tuple<int, std::string> reason(const Outcome& o) {
    if (o.report && spills(*o.report)) return {3, message("tiles_figure.would_spill")};
    if (o.report) return {2, message(o.report->fits_hbm() ? "tiles_figure.not_modelled" : "tiles_figure.no_hbm")};
    if (o.lacks == Space::sram) return {0, message("tiles_figure.no_sram")};
    return {1, message("tiles_figure.no_registers")};
}

/// A number in the units of on_axis(), as people write it.
std::string shown_on_axis(const Metric& m, double v) {
    return shown(m, m.unit == MetricUnit::microseconds ? v * 1e6 : m.share ? v / 100 : v);
}

/// Adds the cells; cells without a number are hatched. Returns whether the colours end beyond the largest number.
bool add_cells(Panel& p, const Plane& plane, const Metric& m) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const Outcome& o : plane.outcomes)
        if (const auto v = value_of(o, m)) least = std::min(least, *v), most = std::max(most, *v);
    const bool log = least > 0 && most > 3 * least;
    const double end = end_of_shades(m, least, most);
    const bool goes_on = end > most;
    most = end;
    p.shades = FigureAxis{"", scale_of(m), log, least, most > least ? most : least + 1};
    if (log)
        for (double decade = std::pow(10, std::floor(std::log10(least))); decade < most; decade *= 10)
            for (const double digit : {1.0, 2.0, 5.0})
                if (const double v = decade * digit; v >= least && v <= most)
                    p.shades->ticks.push_back({v, shown_on_axis(m, v)});
    for (std::size_t i = 0; i < plane.rows.values.size(); ++i)
        for (std::size_t j = 0; j < plane.cols.values.size(); ++j) {
            const double x = static_cast<double>(j), y = static_cast<double>(i);
            Box b{x - 0.5, x + 0.5, y - 0.5, y + 0.5, -1};
            const Outcome& o = plane.at(i, j);
            const auto v = value_of(o, m);
            if (v)
                b.shade = *v;
            else
                b.hatched = true, std::tie(b.colour, b.series) = reason(o);
            p.boxes.push_back(b);
        }
    return goes_on;
}

/// Adds borders around regions of cells with the same number of thread blocks on an SM.
void add_borders(Panel& p, const Plane& plane) {
    const Metric& m = *find_metric("blocks_per_sm");
    const auto blocks = [&](std::size_t i, std::size_t j) {
        const auto& r = plane.at(i, j).report;
        return r ? number_of(m, *r).value_or(0) : 0;
    };
    const auto segment = [&](double x0, double y0, double x1, double y1) {
        p.series.push_back({"", Look::border, -1, {{x0, y0}, {x1, y1}}});
    };
    for (std::size_t i = 0; i < plane.rows.values.size(); ++i)
        for (std::size_t j = 0; j < plane.cols.values.size(); ++j) {
            const double x = static_cast<double>(j), y = static_cast<double>(i);
            if (j + 1 < plane.cols.values.size() && blocks(i, j) != blocks(i, j + 1))
                segment(x + 0.5, y - 0.5, x + 0.5, y + 0.5);
            if (i + 1 < plane.rows.values.size() && blocks(i, j) != blocks(i + 1, j))
                segment(x - 0.5, y + 0.5, x + 0.5, y + 0.5);
        }
}

/// The largest Bc, at most `most`, with which tiles of `rows` rows fit on `gpu`; 0 where none fits.
Index widest(const Experiment& e, const GpuSpec& gpu, Index rows, Index most) {
    Index fit = 0, beyond = most + 1;
    while (beyond - fit > 1) {
        const Index middle = fit + (beyond - fit) / 2;
        (fits(*e.algorithm, e.problem, {rows, middle}, gpu) ? fit : beyond) = middle;
    }
    return fit;
}

/// Adds the limits of Bc by SRAM and by registers, each as if the other were unlimited. Returns whether there is one.
bool add_limits(Panel& p, const Plane& plane) {
    const Experiment& e = plane.outcomes[0].experiment;
    const double last = number_in(plane.cols.values.back()), columns = static_cast<double>(plane.cols.values.size());
    const Index most = 2 * static_cast<Index>(last);
    const std::size_t before = p.series.size();
    for (const Space space : {Space::sram, Space::registers}) {
        const GpuSpec gpu = with_room(e.gpu, space != Space::sram, space == Space::sram);
        Series limit{message(space == Space::sram ? "tiles_figure.limit_of_sram" : "tiles_figure.limit_of_registers"),
                     space == Space::sram ? Look::line : Look::dashes, space == Space::sram ? 2 : 3};
        bool within = false;
        for (std::size_t i = 0; i < plane.rows.values.size(); ++i) {
            const Index cols = widest(e, gpu, static_cast<Index>(number_in(plane.rows.values[i])), most);
            // A limit beyond the plane is drawn as if a column twice as wide as the last one lay beside it.
            const auto inside = position(plane.cols.values, std::max<Index>(cols, 1));
            if (cols == 0 || (!inside && static_cast<double>(cols) < last)) continue;
            within = within || inside;
            limit.points.push_back(
                {inside.value_or(columns - 1 + std::log2(static_cast<double>(cols) / last)), static_cast<double>(i)});
        }
        if (within) p.series.push_back(limit);
    }
    return p.series.size() > before;
}

/// Whether the search treats nearly equal numbers of the metric as equal, as it does bytes.
bool few_bytes(const Metric& m) { return m.unit == MetricUnit::bytes; }

/// The best of the tilings that a kernel could have, by the rule of the search.
const Outcome* best_of(const Plane& plane, const Metric& m, bool more_is_better) {
    std::vector<std::pair<const Outcome*, Standing>> all;
    double least = std::numeric_limits<double>::infinity();
    for (const Outcome& o : plane.outcomes)
        if (const auto v = value_of(o, m); v && !spills(*o.report)) {
            all.emplace_back(&o, standing_of(*o.report, more_is_better ? -*v : *v));
            least = std::min(least, all.back().second.value);
        }
    const bool of_bytes = !more_is_better && few_bytes(m);
    const auto best = std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
        return comes_before(a.second, b.second, least, of_bytes ? Objective::dram : Objective::time);
    });
    return best == all.end() ? nullptr : best->first;
}

}  // namespace

Figure tiles_plane(const FigureRequest& r) {
    const auto variants = variants_of(r, {"flash_v2"});
    if (variants.size() > 1) throw UsageError(message("tiles_figure.one_algorithm", variants[1].label));
    const Metric& m = metric_named("--metric", r.metric.empty() ? "time_us" : r.metric);
    for (const SweepAxis& a : r.vary)
        if (a.key != "br" && a.key != "bc") throw UsageError(message("tiles_figure.varies_tiles", a.key));
    const SweepAxis usual_rows = parse_axis("br=16,32,48,64,80,96,112,128,160,192,224,256,320,384,448,512"),
                    usual_cols = parse_axis("bc=16,32,48,64,80,96,112,128,160,192,224,256,320,384,448,512");
    Plane plane{axis_named(r.vary, "br", usual_rows), axis_named(r.vary, "bc", usual_cols), {}};
    for (const char* key : {"br", "bc", "tiles"}) leave_to_figure(r, key, "br=16:256:+16 --vary bc=16:256:+16");
    FigureRequest usual = r;
    usual.options = with_usual_sizes(r.options, 64, 4096);
    std::vector<FigureCase> cases;
    for (const std::string& br : plane.rows.values)
        for (const std::string& bc : plane.cols.values) cases.push_back({&variants[0], {{"br", br}, {"bc", bc}}});
    plane.outcomes = outcomes_of(usual, cases);
    const Experiment& e = plane.outcomes[0].experiment;
    Panel p{"",
            {message("tiles_figure.keys"), Scale::plain, false, -0.5,
             static_cast<double>(plane.cols.values.size()) - 0.5, ticks_of(plane.cols.values)},
            {message("tiles_figure.queries"), Scale::plain, false, -0.5,
             static_cast<double>(plane.rows.values.size()) - 0.5, ticks_of(plane.rows.values)}};
    const bool beyond_most = add_cells(p, plane, m);
    add_borders(p, plane);
    const bool borders = !p.series.empty();
    const bool curves = add_limits(p, plane);
    if (p.boxes.end() == std::find_if(p.boxes.begin(), p.boxes.end(), [](const Box& b) { return !b.hatched; })) {
        if (plane.outcomes[0].report && std::holds_alternative<std::string>(m.of(*plane.outcomes[0].report)))
            throw UsageError(message("tiles_figure.word", m.key));
        throw RunError(message("tiles_figure.no_numbers", m.key, plane.outcomes[0].remark));
    }
    const std::optional<bool> more = more_is_better(m);
    const Outcome* best = more ? best_of(plane, m, *more) : nullptr;
    const auto text_of = [](Tiling t) { return std::to_string(t.br) + " x " + std::to_string(t.bc); };
    const auto published = published_tiles(*e.algorithm, e.problem, e.gpu);
    const Tiling library = cut_to(e.problem, published.tiling), rule = paper_rule(e.problem, e.gpu);
    if (best)
        add_mark(p, plane, best->experiment.tiling, message("tiles_figure.best", text_of(best->experiment.tiling)),
                 Look::points, 4);
    add_mark(p, plane, library, message("tiles_figure.published", published.name(), text_of(library)), Look::points, 1);
    if (e.algorithm->kernel->by_paper_rule)
        add_mark(p, plane, rule, message("tiles_figure.by_rule", text_of(rule)), Look::points, 3);
    std::vector<std::string> of_all = {
        message("tiles_figure.metric", text::capitalised(m.title), name_of(m.evidence), m.meaning)};
    if (beyond_most) of_all.push_back(message("tiles_figure.colours_go_on"));
    if (borders) of_all.push_back(message("tiles_figure.lines"));
    if (curves) of_all.push_back(message("tiles_figure.curves"));
    if (best) {
        of_all.push_back(message(few_bytes(m) ? "tiles_figure.best_of_fewest_bytes" : "tiles_figure.best_cell"));
        of_all.push_back(message("tiles_figure.error"));
    }
    of_all.push_back(message("figure.setups", setup_text(e, "")));
    return {"tiles",
            message("tiles_figure.title", variants[0].title, m.title, name_of(m.evidence)),
            {p},
            text::sentences(of_all),
            r.command};
}

}  // namespace tilescope::lab
