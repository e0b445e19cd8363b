// The score matrix as the thread blocks process it: when each tile is finished. The margins show how often the tiles of
// Q, K, V and O are moved.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "core/machine/error.hpp"
#include "core/machine/sorted.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "lab/figure/kinds.hpp"
#include "lab/figure/tile_visits.hpp"
#include "lab/model/played_launch.hpp"
#include "lab/model/timing.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr Index most_tiles = 1024;    // with more, tiles could not be told apart
constexpr Index most_numbered = 12;   // with more in a row or column, numbers have no room
constexpr double longest_bar = 0.24;  // in widths of the matrix, as `gap` and `room_of_word`
constexpr double gap = 0.03, room_of_word = 0.1;

/// A tile of scores, when it is finished, and by which thread block.
struct Done {
    Index i, j;
    double at;  ///< seconds
    Moment by;
};

/// When the loop iterations of the first head's thread blocks end, in the time of the run.
class Clock {
  public:
    Clock(const Experiment& e, const TileVisits& visits, Control* control) : visits_(visits) {
        const RunTime time = time_of(e, {.played = &launches_}, control);
        double begin = 0;
        for (std::size_t k = 0; k < launches_.size(); ++k) {
            const PlayedLaunch& l = launches_[k];
            if (l.timeline.stays.empty()) throw RunError(message("loop_order.too_many_blocks"));
            cycle_.push_back(1 / (time.launches[k].clock_mhz * 1e6));
            begin_.push_back(begin + l.launch_us / 1e6);
            begin = begin_.back() + l.timeline.cycles * cycle_.back();
            auto& stays = stays_.emplace_back();
            for (std::size_t s = 0; s < l.order.size(); ++s)
                if (l.order[s].head == 0) {
                    stays.resize(std::max<std::size_t>(stays.size(), l.order[s].block + 1));
                    stays[l.order[s].block] = l.timeline.stays[s];
                }
        }
    }
    /// When the iteration of a moment ends, in seconds. All iterations of a block are equally long, and the cost of
    /// masks comes after them.
    double end_of(const Moment& m) const {
        const auto block = static_cast<std::size_t>(m.block);
        const Stay& stay = stays_[m.launch][block];
        const BlockWork& work = launches_[m.launch].works[block];
        const std::uint32_t turns = visits_.turns(m.launch, m.block);
        double part = 1;
        if (m.turn < turns) {
            double masks = 0;
            for (const LoopWork& l : work.loops) masks += l.masked * l.step.alone;
            const double all = work.cycles(1)[0];
            part = (work.fixed + (all - work.fixed - masks) * m.turn / turns) / all;
        }
        return begin_[m.launch] + (stay.from + (stay.to - stay.from) * part) * cycle_[m.launch];
    }

  private:
    const TileVisits& visits_;
    std::vector<PlayedLaunch> launches_;
    std::vector<double> begin_, cycle_;
    std::vector<std::vector<Stay>> stays_;  // of the first head, by launch and block
};

/// The data of a panel.
struct Story {
    std::string label;
    Report report;
    TileVisits visits;
    std::vector<Done> done;  ///< sorted by time
};

Story story_of(const std::string& label, const Report& report, Control* control) {
    Story s{label, report, TileVisits(report), {}};
    const Experiment& e = report.experiment;
    Mode mode = exact_mode;
    mode.only_wanted = true;
    Gpu gpu(e.gpu, mode, 1, control);
    gpu.listen(s.visits);
    run_program(gpu, *e.algorithm, e.problem, e.tiling, {});
    const Clock clock(e, s.visits, control);
    for (Index i = 0; i < s.visits.rows(); ++i)
        for (Index j = 0; j < s.visits.cols(); ++j) {
            const auto& moments = s.visits.visits(i, j);
            if (moments.empty()) continue;
            const auto last = std::max_element(moments.begin(), moments.end(), [&](const Moment& a, const Moment& b) {
                return clock.end_of(a) < clock.end_of(b);
            });
            s.done.push_back({i, j, clock.end_of(*last), *last});
        }
    sort_stably(s.done, [](const Done& a, const Done& b) { return a.at < b.at; });
    return s;
}

/// Where a tile lies: from 0 to 1 across the matrix, the first row above.
Box cell(const Story& s, Index i, Index j) {
    const Problem& p = s.report.experiment.problem;
    const auto across = [&](Index x) { return static_cast<double>(x) / static_cast<double>(p.seq_k); };
    const auto down = [&](Index x) { return 1 - static_cast<double>(x) / static_cast<double>(p.seq_q); };
    const Span row = s.visits.row(i), col = s.visits.col(j);
    return {across(col.begin), across(col.end()), down(row.end()), down(row.begin)};
}

Box inset(Box b) {
    const double x = (b.right - b.left) * 0.04, y = (b.top - b.bottom) * 0.04;
    b.left += x, b.right -= x, b.bottom += y, b.top -= y;
    return b;
}

bool is_numbered(const Story& s) { return std::max(s.visits.rows(), s.visits.cols()) <= most_numbered; }

/// Adds the tiles row by row, each with its number in the order in which tiles are finished; tiles that are finished at
/// the same time have the same number.
void add_tiles(Panel& p, const Story& s) {
    const bool numbered = is_numbered(s);
    Index number = 0;
    double before = -1;
    std::map<std::pair<Index, Index>, Box> boxes;
    for (const Done& d : s.done) {
        if (d.at > before * (1 + 1e-9)) ++number, before = d.at;
        Box b = inset(cell(s, d.i, d.j));
        b.colour = -1, b.shade = d.at;
        if (numbered) b.label = std::to_string(number);
        boxes.emplace(std::pair(d.i, d.j), b);
    }
    for (const auto& [place, box] : boxes) p.boxes.push_back(box);
    for (Index i = 0; i < s.visits.rows(); ++i)
        for (Index j = 0; j < s.visits.cols(); ++j)
            if (s.visits.visits(i, j).empty()) {
                Box b = cell(s, i, j);
                b.colour = 0, b.hatched = true, b.series = message("loop_order.skipped");
                p.boxes.push_back(b);
            }
}

/// Adds the path of each thread block through the tiles that it finishes. A path begins with a dot, and is cut where it
/// turns or jumps.
void add_ways(Panel& p, const Story& s) {
    std::vector<Done> order = s.done;
    sort_stably(order, [](const Done& a, const Done& b) {
        return std::tie(a.by.launch, a.by.block, a.by.turn) < std::tie(b.by.launch, b.by.block, b.by.turn);
    });
    const auto step = [&](std::size_t k) {  // from the tile before
        return std::pair(order[k].i - order[k - 1].i, order[k].j - order[k - 1].j);
    };
    for (std::size_t k = 0; k < order.size(); ++k) {
        const Box b = cell(s, order[k].i, order[k].j);
        const FigurePoint at{b.left + 0.2 * (b.right - b.left), b.bottom + 0.16 * (b.top - b.bottom)};
        const bool same_block =
            k > 0 && order[k].by.launch == order[k - 1].by.launch && order[k].by.block == order[k - 1].by.block;
        const bool goes_on = same_block && std::abs(step(k).first) + std::abs(step(k).second) == 1 &&
                             (p.series.back().points.size() == 1 || step(k) == step(k - 1));
        if (!goes_on) p.series.push_back({"", same_block ? Look::border : Look::way, 4});
        p.series.back().points.push_back(at);
    }
}

/// Whether a path is cut: its next part starts elsewhere, without a dot.
bool cuts_ways(const Panel& p) {
    return std::any_of(p.series.begin(), p.series.end(), [](const Series& s) { return s.look == Look::border; });
}

/// A margin: which tensor's tiles lie there, and in which direction the bars grow.
struct Margin {
    Meaning meaning;
    const char *name, *legend;  ///< of the tensor; id of a message
    int colour;
    bool across;    ///< left or right of the matrix, else below or above it
    bool positive;  ///< to the right, or upwards
};
constexpr Margin margins[] = {{Meaning::query, "Q", "loop_order.q_read", 0, true, false},
                              {Meaning::key, "K", "loop_order.k_v_read", 1, false, true},
                              {Meaning::value, "V", "loop_order.k_v_read", 1, false, false},
                              {Meaning::output, "O", "loop_order.o_read", 2, true, true}};

double longest(const Story& s, const Margin& m) {
    double most = 0;
    for (const Trips& t : s.visits.trips(m.meaning)) most = std::max(most, t.read + t.written);
    return most;
}

/// The least and most trips of a tile: "1", or "1 to 8".
std::string range_of(const std::vector<Trips>& trips) {
    const auto [least, most] = std::minmax_element(trips.begin(), trips.end(), [](const Trips& a, const Trips& b) {
        return a.read + a.written < b.read + b.written;
    });
    const std::string low = text::number(least->read + least->written), high = text::number(most->read + most->written);
    return low == high ? low : message("figure.from_to", low, high);
}

/// Adds a bar for each tile, `unit` long for each trip. Reads lie next to the matrix, writes beyond the reads.
void add_margin(Panel& p, const Story& s, const Margin& m, double unit) {
    const auto& trips = s.visits.trips(m.meaning);
    const auto bar = [&](std::size_t k, double from, double to) {
        const Box at = inset(m.across ? cell(s, static_cast<Index>(k), 0) : cell(s, 0, static_cast<Index>(k)));
        const auto place = [&](double x) { return m.positive ? 1 + gap + x * unit : -gap - x * unit; };
        const double low = std::min(place(from), place(to)), high = std::max(place(from), place(to));
        return m.across ? Box{low, high, at.bottom, at.top, m.colour} : Box{at.left, at.right, low, high, m.colour};
    };
    for (std::size_t k = 0; k < trips.size(); ++k) {
        const Trips& t = trips[k];
        if (t.read > 0) p.boxes.push_back(bar(k, 0, t.read)), p.boxes.back().series = message(m.legend);
        if (t.written == 0) continue;
        p.boxes.push_back(bar(k, t.read, t.read + t.written));
        p.boxes.back().series = message("loop_order.o_written"), p.boxes.back().open = true;
    }
    const double far = gap + longest(s, m) * unit + (m.across ? room_of_word / 2 : 0);
    const double at = m.positive ? 1 + far : -far;
    const std::string words = message("loop_order.trips", m.name, range_of(trips));
    const double upwards = std::numeric_limits<double>::infinity();
    p.series.push_back(
        {"", Look::words, -1, {{m.across ? at : 0.5, m.across ? 0.5 : at, words, m.across ? upwards : 0}}});
    p.series.back().side = m.across ? Side::centre : m.positive ? Side::above : Side::below;
}

/// Ticks from 0 to `us` at round numbers of microseconds, at most four steps.
std::vector<FigureAxis::Tick> ticks_up_to(double us) {
    const double decade = std::pow(10, std::floor(std::log10(us)));
    double step = decade / 5;
    for (const double factor : {0.5, 1.0, 2.0, 5.0})
        if (us / step > 4) step = factor * decade;
    std::vector<FigureAxis::Tick> ticks;
    for (double at = 0; at <= us; at += step) ticks.push_back({at / 1e6, text::number(at) + " µs"});
    return ticks;
}

Panel panel_of(const Story& s, const std::array<double, std::size(margins)>& room, double unit) {
    const RunTime& time = *s.report.time;
    const auto far = [&](std::size_t side) { return gap + room[side] * unit + room_of_word; };
    const Tiling t = s.report.experiment.tiling;
    Panel p{message("loop_order.panel", s.label, text::microseconds(time.us()), text::bytes(s.report.counters.hbm())),
            {message("loop_order.keys", t.bc), Scale::plain, false, -far(0), 1 + far(3)},
            {message("loop_order.queries", t.br), Scale::plain, false, -far(2), 1 + far(1)}};
    p.map = true;
    p.shades = FigureAxis{"", Scale::seconds, false, 0.0, time.us() / 1e6, ticks_up_to(time.us())};
    add_tiles(p, s);
    add_ways(p, s);
    for (const Margin& m : margins) add_margin(p, s, m, unit);
    return p;
}

void check(const std::vector<Variant>& variants, const FigureRequest& r) {
    for (const Variant& v : variants)
        if (v.algorithm->computes != &computation::attention)
            throw UsageError(message("loop_order.no_scores", v.label));
    vary_nothing(r);
}

void check(const Experiment& e) {
    const Index rows = ceil_div(e.problem.seq_q, e.tiling.br), cols = ceil_div(e.problem.seq_k, e.tiling.bc);
    if (rows * cols > most_tiles) throw UsageError(message("loop_order.too_many_tiles", rows, cols, most_tiles));
}

}  // namespace

Figure loop_order(const FigureRequest& r) {
    const auto variants = variants_of(r, {"flash_v1", "flash_v2", "standard", "memory_efficient"});
    check(variants, r);
    FigureRequest usual = r;
    usual.options = with_usual_sizes(r.options, 1, 1024);
    std::vector<FigureCase> cases;
    for (const Variant& v : variants) cases.push_back({&v, {}});
    const auto outcomes = outcomes_of(usual, cases);
    std::vector<Story> stories;
    for (std::size_t k = 0; k < variants.size(); ++k) {
        check(outcomes[k].experiment);
        if (outcomes[k].report && outcomes[k].report->time)
            stories.push_back(story_of(variants[k].title, *outcomes[k].report, r.control));
    }
    if (stories.empty()) throw RunError(message("loop_order.not_drawn", outcomes[0].remark));
    std::array<double, std::size(margins)> room{};
    for (std::size_t k = 0; k < room.size(); ++k)
        for (const Story& s : stories) room[k] = std::max(room[k], longest(s, margins[k]));
    const double unit = longest_bar / *std::max_element(room.begin(), room.end());
    const Problem& p = stories[0].report.experiment.problem;
    Figure f{"loop-order", message("loop_order.title"), {}, "", r.command};
    for (const Story& s : stories) f.panels.push_back(panel_of(s, room, unit));
    const bool several = stories.size() > 1, cut = std::any_of(f.panels.begin(), f.panels.end(), cuts_ways);
    std::vector<std::string> of_all = {message("loop_order.matrix")};
    if (std::any_of(stories.begin(), stories.end(), is_numbered))
        of_all.push_back(message(several ? "loop_order.numbers_of_panels" : "loop_order.numbers"));
    else
        of_all.push_back(message(several ? "loop_order.colours_of_panels" : "loop_order.colours"));
    of_all.push_back(message(cut ? "loop_order.cut_lines" : "loop_order.lines"));
    of_all.push_back(message("loop_order.bars"));
    if (p.batch_heads() > 1) of_all.push_back(message("loop_order.first_head", p.batch_heads()));
    of_all.push_back(setups_of(variants, outcomes));
    f.of_all = text::sentences(of_all);
    return f;
}

}  // namespace tilescope::lab
