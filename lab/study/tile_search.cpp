#include "lab/study/tile_search.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/machine/sorted.hpp"
#include "lab/model/published_tiles.hpp"
#include "lab/model/timing.hpp"
#include "lab/study/tile_plane.hpp"

namespace tilescope::lab {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
/// L2 misses make a run longer; but with a mask, other scheduling may make it shorter, by up to this factor.
constexpr double anomaly = 1.03;
constexpr double as_few = 1.01;                        // bytes up to this factor of the least are equal
constexpr std::size_t least_ranked = 24, a_batch = 8;  // at least so many are timed with the L2, then so many at a time

double value_of(const Report& r, Objective objective) {
    if (objective == Objective::sm_traffic) return static_cast<double>(r.counters.hbm());
    if (!r.time) return unbounded;
    if (objective == Objective::time) return r.time->us();
    const auto dram = r.dram();
    return dram ? static_cast<double>(dram->total()) : unbounded;
}

/// A tiling's time without L2 misses, which is quickly computed, and its SM traffic.
struct Estimate {
    Tiling tiling;
    double us;
    Bytes traffic;
};

class Search {
  public:
    explicit Search(const Sought& sought) : s_(sought) {}

    /// The first tiling of run(). Where bytes decide, those that are not as few as the least need no time.
    std::optional<Tiling> best() {
        std::vector<Estimate> all = sorted_estimates();
        if (by_traffic() && !all.empty()) {
            const double most = as_few * static_cast<double>(all[0].traffic);
            std::erase_if(all, [&](const Estimate& e) { return static_cast<double>(e.traffic) > most; });
            if (all.size() == 1) return all[0].tiling;
        }
        const Ranking ranked = ranking_of(all);
        return ranked.tiles.empty() ? std::nullopt : std::optional(ranked.tiles[0].tiling());
    }

    Ranking run() { return ranking_of(sorted_estimates()); }

  private:
    std::vector<Estimate> sorted_estimates() {
        std::vector<Estimate> all = estimates();
        sort_stably(all, [&](const Estimate& a, const Estimate& b) {
            return by_traffic() ? std::tie(a.traffic, a.us) < std::tie(b.traffic, b.us) : a.us < b.us;
        });
        return all;
    }

    Ranking ranking_of(const std::vector<Estimate>& all) {
        for (std::size_t from = 0, to = 0; from < all.size(); from = to) {
            if (from >= least_ranked && decided(all[from])) break;
            to = std::min(from + (from == 0 ? least_ranked : a_batch), all.size());
            evaluate({all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + static_cast<std::ptrdiff_t>(to)});
        }
        sort_stably(list_, [&](const Tried& a, const Tried& b) { return before(a, b); });
        Ranking ranked{{}, no_room_};
        for (Tried& t : list_) ranked.tiles.push_back(std::move(t.candidate));
        return ranked;
    }

    struct Tried {
        Candidate candidate;
        Standing standing;
    };

    bool before(const Tried& a, const Tried& b) const {
        return comes_before(a.standing, b.standing, least_, s_.wish.objective);
    }
    bool by_traffic() const { return s_.wish.objective == Objective::sm_traffic; }

    /// Estimates of all tilings that fit; where a tile does not fit, wider ones do not either.
    std::vector<Estimate> estimates() {
        std::vector<Estimate> all;
        for (const Index br : tile_sizes(s_.wish.tiling.br, s_.problem.seq_q, s_.gpu))
            for (const Index bc : tile_sizes(s_.wish.tiling.bc, s_.problem.seq_k, s_.gpu)) {
                check_stop(s_.control);
                const Tiling tiling = s_.tiles(br, bc);
                if (!fits(s_.algorithm, s_.problem, tiling, s_.gpu)) break;
                Outline outline;
                Listener* const listeners[] = {&outline};
                const Report counted = count(s_.with(tiling), s_.control, listeners);
                const RunTime time = time_of(counted, outline, {.l2 = false});
                const bool could_run = why_infeasible(time).empty();
                if (could_run && no_room_.empty()) no_room_ = time.no_room;
                if (!s_.choice() || (could_run && time.no_room.empty()))
                    all.push_back({tiling, time.us(), counted.counters.hbm()});
            }
        return all;
    }

    void evaluate(const std::vector<Estimate>& some) {
        study(
            static_cast<Index>(some.size()), s_.threads,
            [&](Index k) { return outcome_of(s_.with(some[static_cast<std::size_t>(k)].tiling), s_.control); },
            [&](Index, const Outcome& o) {
                const double value = value_of(*o.report, s_.wish.objective);
                list_.push_back({{o, value}, standing_of(*o.report, value)});
                least_ = std::min(least_, value);
            });
    }

    /// Whether neither `next` nor any estimate after it can be the best.
    bool decided(const Estimate& next) const {
        const auto best =
            std::min_element(list_.begin(), list_.end(), [&](const Tried& a, const Tried& b) { return before(a, b); });
        const double us = best->standing.us;
        if (by_traffic()) return static_cast<double>(next.traffic) > as_few * least_;
        if (s_.wish.objective == Objective::time) return next.us > anomaly * us;
        const bool no_fewer = least_ <= as_few * static_cast<double>(best->candidate.outcome.report->compulsory_read());
        return no_fewer && next.us > anomaly * us;
    }

    const Sought& s_;
    std::vector<Tried> list_;
    std::string no_room_;
    double least_ = unbounded;
};

}  // namespace

bool comes_before(const Standing& a, const Standing& b, double least, Objective objective) {
    const double margin = objective == Objective::time ? 1 : as_few;
    const auto as_good = [&](const Standing& s) { return s.value <= margin * least; };
    if (as_good(a) != as_good(b)) return as_good(a);
    if (!as_good(a) && a.value != b.value) return a.value < b.value;
    const auto rest = [](const Standing& s) {
        return std::tuple(s.us, !s.released, s.traffic, s.tiling.br * s.tiling.bc, s.tiling.br);
    };
    return rest(a) < rest(b);
}

std::vector<Index> tile_sizes(Index given, Index rows, const GpuSpec& gpu) {
    if (given > 0) return {given};
    std::vector<Index> sizes = plane_sizes(rows);
    constexpr Index unit = 16;  // rows of an mma, and of a warp on CUDA cores
    if (gpu.compute_capability != "none") std::erase_if(sizes, [&](Index n) { return n % unit != 0 && n != rows; });
    return sizes;
}

Candidate candidate_of(const Experiment& e, Objective objective, Control* control) {
    Candidate c{outcome_of(e, control)};
    c.value = c.outcome.report ? value_of(*c.outcome.report, objective) : unbounded;
    return c;
}

Standing standing_of(const Report& r, double value) {
    const Experiment& e = r.experiment;
    const Tiling released = cut_to(e.problem, published_tiling(*e.algorithm, e.problem, e.gpu));
    return {value, r.time ? r.time->us() : unbounded, released.br == e.tiling.br && released.bc == e.tiling.bc,
            r.counters.hbm(), e.tiling};
}

Ranking ranked_tiles(const Sought& sought) { return Search(sought).run(); }

std::optional<Mapping> best_mapping(const Algorithm& algorithm, const Problem& problem, const Wish& wish,
                                    const GpuSpec& gpu, Control* control) {
    const Sought sought(algorithm, problem, wish, gpu, 1, control);
    const auto best = Search(sought).best();
    return best ? std::optional(Mapping{*best, wish.placing}) : std::nullopt;
}

}  // namespace tilescope::lab
