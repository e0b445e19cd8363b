#include "show/stage/plane.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/published_tiles.hpp"
#include "lab/study/study.hpp"
#include "lab/study/tile_search.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

using Look = PlanePicture::Look;

std::string name_of(const Tiling& t) { return std::to_string(t.br) + " × " + std::to_string(t.bc); }

bool needs_time(const Metric& m) { return m.evidence == Evidence::modelled; }

std::optional<double> value_of(const PlaneCell& c, const Metric& m) {
    if (!c.fits || (needs_time(m) && c.spills())) return std::nullopt;
    return number_of(m, *c.report);
}

/// Whether the exact value of this cell is still to come.
bool awaited(const PlaneCell& c, const Metric& m) {
    return c.has_time() && needs_time(m) && c.known != Known::exact && !c.spills();
}

Look look_of(const PlaneCell& c, const Metric& m) {
    if (!c.fits) return c.lacks_room == Space::sram ? Look::no_sram : Look::no_registers;
    if (value_of(c, m)) return Look::value;
    if (awaited(c, m)) return Look::pending;
    return c.spills() ? Look::spills : Look::no_value;
}

/// Shades from the least to the most value, by logarithms where the two are far apart; the best value stands out.
struct Shades {
    bool less_is_better;
    double least = std::numeric_limits<double>::infinity(), most = -least;
    bool log() const { return least > 0 && most > 3 * least; }
    void take(double v) { least = std::min(least, v), most = std::max(most, v); }
    float operator()(double v) const {
        if (!(most > least)) return 0.5f;
        const double share = log() ? std::log(v / least) / std::log(most / least) : (v - least) / (most - least);
        return static_cast<float>(less_is_better ? 1 - share : share);
    }
};

std::vector<PlanePicture::Tick> scale_of(const Shades& s, const Metric& m) {
    std::vector<PlanePicture::Tick> ticks;
    if (!(s.most >= s.least)) return ticks;
    const auto add = [&](double v) { ticks.push_back({s(v), shown(m, MetricValue(v))}); };
    add(s.least);
    if (s.most > s.least) add(s.most);
    if (s.log())
        for (double decade = std::pow(10, std::floor(std::log10(s.least))); decade <= s.most; decade *= 10)
            for (const double digit : {1.0, 2.0, 5.0})
                if (const double v = decade * digit; v > s.least && v < s.most) add(v);
    return ticks;
}

std::vector<PlanePicture::Tick> ticks_of(const std::vector<Index>& sizes) {
    std::vector<PlanePicture::Tick> ticks;
    const std::size_t n = sizes.size(), step = n > 16 ? 4 : n > 8 ? 2 : 1;
    for (std::size_t k = step - 1; k < n; k += step) ticks.push_back({static_cast<float>(k), std::to_string(sizes[k])});
    return ticks;
}

/// The position of a size on an axis, in cells; nothing for a size beyond the axis.
std::optional<float> position(const std::vector<Index>& sizes, Index size) {
    if (size < 1 || size > sizes.back()) return std::nullopt;
    const auto above = std::lower_bound(sizes.begin(), sizes.end(), size);
    const auto k = static_cast<float>(above - sizes.begin());
    const Index below = above == sizes.begin() ? 0 : *(above - 1);
    return k - static_cast<float>(*above - size) / static_cast<float>(*above - below);
}

class PlanePainter {
  public:
    PlanePainter(const TilePlane& plane, const std::vector<PlaneCell>& cells, const Metric& m)
        : plane_(plane), cells_(cells), m_(m) {}

    PlanePicture picture(const Tiling& current) {
        p_.rows = plane_.brs().size(), p_.cols = plane_.bcs().size();
        p_.br = ticks_of(plane_.brs()), p_.bc = ticks_of(plane_.bcs());
        Shades shades{more_is_better(m_) == std::optional(false)};
        for (const PlaneCell& c : cells_)
            if (const auto v = value_of(c, m_)) shades.take(*v);
        shades.most = end_of_shades(m_, shades.least, shades.most);
        for (const PlaneCell& c : cells_) {
            const auto v = value_of(c, m_);
            p_.cells.push_back({look_of(c, m_), v ? shades(*v) : 0, v && needs_time(m_) && c.known == Known::estimated,
                                c.fits ? c.residency().blocks : 0});
        }
        p_.scale = scale_of(shades, m_);
        p_.title = message("plane.title", m_.title, lab::name_of(m_.evidence));
        p_.meaning = m_.meaning;
        add_marks(current);
        return std::move(p_);
    }

  private:
    using Kind = PlanePicture::Mark::Kind;

    void mark(Kind kind, const Tiling& t, const std::string& text) {
        const auto col = position(plane_.bcs(), t.bc), row = position(plane_.brs(), t.br);
        if (col && row) p_.marks.push_back({kind, *col, *row, text});
    }
    void add_marks(const Tiling& current) {
        const Experiment& e = plane_.experiment();
        if (e.algorithm->kernel->by_paper_rule) {
            const Tiling paper = paper_rule(e.problem, e.gpu);
            mark(Kind::paper, paper, message("plane.paper_rule", name_of(paper)));
        }
        const PublishedTiles published = published_tiles(*e.algorithm, e.problem, e.gpu);
        const Tiling released = cut_to(e.problem, published.tiling);
        mark(Kind::released, released, message("plane.released", published.name(), name_of(released)));
        if (const PlaneCell* best = best_cell())
            mark(Kind::best, best->tiling, message("plane.best", name_of(best->tiling)));
        mark(Kind::current, current, message("plane.this_run", name_of(current)));
    }
    /// The best of the tiles that a kernel could have, ranked as in the search (lab/study/tile_search.hpp).
    const PlaneCell* best_cell() const {
        const auto more = more_is_better(m_);
        if (!more) return nullptr;
        const Experiment& e = plane_.experiment();
        const std::vector<Index> brs = tile_sizes(0, e.problem.seq_q, e.gpu),
                                 bcs = tile_sizes(0, e.problem.seq_k, e.gpu);
        const auto among = [](const std::vector<Index>& sizes, Index n) {
            return std::binary_search(sizes.begin(), sizes.end(), n);
        };
        std::vector<std::pair<const PlaneCell*, Standing>> all;
        double least = std::numeric_limits<double>::infinity();
        for (const PlaneCell& c : cells_)
            if (const auto v = value_of(c, m_); v && !c.spills() && among(brs, c.tiling.br) && among(bcs, c.tiling.bc))
                all.emplace_back(&c, standing_of(*c.report, *more ? -*v : *v)),
                    least = std::min(least, *more ? -*v : *v);
        // Where tiles move equally few bytes, time decides.
        const Objective objective = !*more && m_.unit == MetricUnit::bytes ? Objective::dram : Objective::time;
        const auto best = std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
            return comes_before(a.second, b.second, least, objective);
        });
        return best == all.end() ? nullptr : best->first;
    }

    const TilePlane& plane_;
    const std::vector<PlaneCell>& cells_;
    const Metric& m_;
    PlanePicture p_;
};

/// "483 of 1,024 tilings fit, 40 of them would spill; modelled with the L2 for 120, without its misses for 323; ...".
std::string state_of(const std::vector<PlaneCell>& cells, const Metric& m, const TilePlane::EstimateError& off) {
    Count fit = 0, spill = 0, exact = 0, estimated = 0;
    for (const PlaneCell& c : cells) {
        fit += c.fits, spill += c.spills();
        exact += c.known == Known::exact;
        estimated += c.known == Known::estimated && value_of(c, m);
    }
    const Count all = static_cast<Count>(cells.size());
    const std::string fits =
        spill > 0 ? message("plane.fit_and_spill", fit, all, spill) : message("plane.fit", fit, all);
    if (!needs_time(m)) return message("plane.counted", fits);
    std::string s = message("plane.modelled", fits, exact);
    if (estimated > 0) s = message("plane.estimated", s, estimated);
    if (exact + estimated < fit && fit > 0)
        s = message(estimated > 0 || exact > 0 ? "plane.others_pending" : "plane.all_pending", s);
    if (estimated == 0 || off.cells == 0) return s;
    return message("plane.estimates_off", s, text::percent(off.mean), off.cells,
                   (off.worst < 0 ? "−" : "+") + text::percent(std::abs(off.worst)));
}

/// A value with its unit, and the metric that it is a value of.
CellText::Line line_of(const PlaneCell& c, const Metric& m) {
    const std::string what = message("plane.metric", m.title, lab::name_of(m.evidence));
    const MetricValue v = m.of(*c.report);
    if (v.index() == 0) return {c.known != Known::exact && c.has_time() ? message("plane.pending") : shown(m, v), what};
    if (!needs_time(m)) return {shown(m, v), what};
    return {shown(m, v), message(c.known == Known::exact ? "plane.with_l2" : "plane.without_l2_misses", what)};
}

std::string blocks_text(const PlaneCell& c) { return message("plane.blocks", c.residency().blocks); }

/// The value of neighbouring cell `c`, its ratio to that of cell `from`, and the thread blocks of `c` on an SM.
CellText::Step step_of(const std::string& direction, const PlaneCell& c, const PlaneCell& from, const Metric& m) {
    CellText::Step s{direction, name_of(c.tiling), "", ""};
    if (!c.fits) {
        s.what = message("plane.does_not_fit", tilescope::name_of(c.lacks_room));
        return s;
    }
    if (c.spills()) {
        s.what = message("plane.would_spill");
        return s;
    }
    const auto v = value_of(c, m), own = value_of(from, m);
    s.value = v ? shown(m, MetricValue(*v)) : message("plane.pending");
    s.what = blocks_text(c);
    if (v && own && *own > 0)
        s.what = message("plane.ratio_and_blocks", text::number(std::round(*v / *own * 100) / 100), s.what);
    return s;
}

}  // namespace

PlanePicture picture_of(const TilePlane& plane, const Metric& m, const Tiling& current) {
    const TilePlane::EstimateError off = plane.estimate_error();
    PlanePicture p = plane.read([&](const std::vector<PlaneCell>& cells) {
        PlanePicture painted = PlanePainter(plane, cells, m).picture(current);
        painted.state = state_of(cells, m, off);
        return painted;
    });
    p.limits = plane.limits();
    return p;
}

std::size_t cell_of(const TilePlane& plane, const Tiling& t) {
    const auto nearest = [](const std::vector<Index>& sizes, Index size) {
        const auto at = std::min_element(sizes.begin(), sizes.end(),
                                         [&](Index a, Index b) { return std::abs(a - size) < std::abs(b - size); });
        return static_cast<std::size_t>(at - sizes.begin());
    };
    return nearest(plane.brs(), t.br) * plane.bcs().size() + nearest(plane.bcs(), t.bc);
}

CellText about_cell(const TilePlane& plane, const Metric& m, std::size_t cell) {
    const std::size_t cols = plane.bcs().size(), rows = plane.brs().size(), row = cell / cols, col = cell % cols;
    CellText t;
    Experiment e = plane.experiment();
    plane.read([&](const std::vector<PlaneCell>& cells) {
        const PlaneCell& c = cells[cell];
        e.tiling = c.tiling;
        t.title = name_of(c.tiling);
        if (c.fits) {
            t.trouble = c.why_infeasible();
            t.lines.push_back(line_of(c, m));
            for (const char* key : {"time_us", "hbm_bytes", "dram_bytes", "arithmetic_intensity", "waves"})
                if (std::string_view(key) != m.key) t.lines.push_back(line_of(c, *find_metric(key)));
            t.lines.push_back({blocks_text(c), message("plane.limited_by", lab::name_of(c.residency().limit))});
        }
        const auto add = [&](const std::string& direction, bool there, std::size_t k) {
            if (there) t.steps.push_back(step_of(direction, cells[k], c, m));
        };
        add(message("plane.taller"), row + 1 < rows, cell + cols);
        add(message("plane.wider"), col + 1 < cols, cell + 1);
        add(message("plane.shorter"), row > 0, cell - cols);
        add(message("plane.narrower"), col > 0, cell - 1);
    });
    if (t.lines.empty()) t.trouble = outcome_of(e).remark;
    return t;
}

std::vector<const Metric*> plane_metrics() {
    std::vector<const Metric*> list;
    for (const char* key :
         {"time_us", "useful_flops_per_s", "hbm_bytes", "dram_bytes", "arithmetic_intensity", "dram_intensity",
          "l2_hit_rate", "blocks_per_sm", "waves", "tail", "sram_peak_bytes", "register_peak_bytes"})
        list.push_back(find_metric(key));
    return list;
}

}  // namespace tilescope::show
