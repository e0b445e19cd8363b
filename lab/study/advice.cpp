#include "lab/study/advice.hpp"

#include <algorithm>
#include <cmath>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/model/laned.hpp"
#include "lab/model/published_tiles.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {
using text::message;
namespace {

std::string times_more(double more) { return text::number(std::round(more * 100) / 100) + " x"; }

/// Says how a candidate compares with the best where only time and value differ.
std::string as_good_or_bound(const Candidate& c, const Candidate& best) {
    const RunTime &t = *c.outcome.report->time, &least = *best.outcome.report->time;
    const double longer = t.us() / least.us();
    if (c.value > best.value && longer > 1) return message("advice.bound_by", name_of(t.longest().bound));
    if (c.value < 0.99 * best.value) return message("advice.not_asked_for");
    return longer > 1.005 ? message("advice.takes_longer", times_more(longer)) : message("advice.as_good");
}

/// `why` a candidate could not run, and that it has fewer warps, where that is the cause: a narrower tile may spill
/// where a wider one does not, if fewer warps hold it.
std::string infeasible(const std::string& why, const RunTime& t, const RunTime& best) {
    for (std::size_t k = 0; k < std::min(t.launches.size(), best.launches.size()); ++k)
        if (const LaunchTime& l = t.launches[k], &b = best.launches[k]; l.spills && l.warps < b.warps)
            return message("advice.with_fewer_warps", why, l.warps, b.warps);
    return why;
}

/// Why a candidate is worse than the best, the most telling reason first.
std::string why_it_loses(const Candidate& c, const Candidate& best) {
    const Outcome& o = c.outcome;
    if (!o.report) return o.remark;
    if (!o.report->time || !best.outcome.report->time) return o.remark;
    const LaunchTime &l = o.report->time->longest(), &b = best.outcome.report->time->longest();
    const double bytes =
        static_cast<double>(o.report->counters.hbm()) / static_cast<double>(best.outcome.report->counters.hbm());
    std::vector<std::string> reasons;
    if (const std::string why = why_infeasible(*o.report->time); !why.empty())
        return infeasible(why, *o.report->time, *best.outcome.report->time);
    if (l.sms < b.sms) reasons.push_back(message("advice.fewer_sms", l.sms, b.sms));
    if (l.residency.blocks < b.residency.blocks)
        reasons.push_back(
            message("advice.fewer_blocks", l.residency.blocks, b.residency.blocks, name_of(l.residency.limit)));
    if (l.tail > b.tail + 0.05) reasons.push_back(message("advice.tail", text::percent(l.tail), text::percent(b.tail)));
    if (bytes > 1.1) reasons.push_back(message("advice.more_traffic", times_more(bytes)));
    if (l.steps > 1.1 * b.steps) reasons.push_back(message("advice.more_steps", times_more(l.steps / b.steps)));
    if (reasons.empty()) return as_good_or_bound(c, best);
    return reasons[0] + (reasons.size() > 1 ? ", " + reasons[1] : "");
}

class Adviser {
  public:
    explicit Adviser(const Sought& sought) : s_(sought) {}

    Advice run() {
        if (const std::string why = untimed(s_.with(s_.wish.tiling)); !why.empty()) throw RunError(why);
        Advice advice;
        Ranking ranked = ranked_tiles(s_);
        if (ranked.tiles.empty() && !ranked.no_room.empty()) throw RunError(message("advice.no_room", ranked.no_room));
        std::vector<std::string> given, flags;
        if (s_.wish.tiling.br > 0) given.emplace_back("Br"), flags.emplace_back("--br");
        if (s_.wish.tiling.bc > 0) given.emplace_back("Bc"), flags.emplace_back("--bc");
        if (ranked.tiles.empty() && !given.empty())
            throw RunError(message("advice.given_fits_not", text::listed(given), text::alternatives(flags)));
        if (ranked.tiles.empty()) throw RunError(message("advice.none_fits"));
        advice.ranking = std::move(ranked.tiles);
        Candidate& best = advice.ranking[0];
        for (Candidate& c : advice.ranking)
            if (&c != &best) c.why = why_it_loses(c, best);
        const PublishedTiles published = published_tiles(s_.algorithm, s_.problem, s_.gpu);
        const Tiling released = cut_to(s_.problem, published.tiling);
        advice.published = published;
        advice.released = evaluated(s_.tiles(released.br, released.bc), "released");
        advice.released.why = why_it_loses(advice.released, best);
        advice.neighbours = neighbours(best);
        find_floor(advice);
        return advice;
    }

  private:
    Candidate evaluated(Tiling t, const char* name = "") const {
        Candidate c = candidate_of(s_.with(t), s_.wish.objective, s_.control);
        c.name = name;
        return c;
    }

    std::vector<Candidate> neighbours(const Candidate& best) const {
        const auto step = [&](Index size, Index rows, bool up) -> Index {  // 0 where there is none
            const std::vector<Index> sizes = tile_sizes(0, rows, s_.gpu);
            if (!up) {
                const auto at = std::lower_bound(sizes.begin(), sizes.end(), size);
                return at == sizes.begin() ? 0 : at[-1];
            }
            const auto at = std::upper_bound(sizes.begin(), sizes.end(), size);
            return at == sizes.end() ? 0 : *at;
        };
        const Tiling t = best.tiling();
        const Index queries = s_.problem.seq_q, keys = s_.problem.seq_k;
        const std::pair<const char*, Tiling> all[] = {{"taller", s_.tiles(step(t.br, queries, true), t.bc)},
                                                      {"wider", s_.tiles(t.br, step(t.bc, keys, true))},
                                                      {"shorter", s_.tiles(step(t.br, queries, false), t.bc)},
                                                      {"narrower", s_.tiles(t.br, step(t.bc, keys, false))}};
        std::vector<Candidate> list;
        for (const auto& [name, tiling] : all) {
            if (tiling.br < 1 || tiling.bc < 1 || tiling.br > queries || tiling.bc > keys) continue;
            list.push_back(evaluated(tiling, name));
            list.back().why = why_it_loses(list.back(), best);
        }
        return list;
    }

    static void find_floor(Advice& advice) {
        const auto& time = advice.ranking[0].outcome.report->time;
        if (!time) return;
        for (std::size_t u = 0; u < unit_count; ++u) {
            double us = 0;
            for (const LaunchTime& l : time->launches) us += l.busy[u] * l.us;
            if (us > advice.floor_us) advice.floor_us = us, advice.floor = static_cast<Unit>(u);
        }
    }

    const Sought& s_;
};

}  // namespace

Advice advise(const Algorithm& algorithm, const Problem& problem, const Wish& wish, const GpuSpec& gpu, int threads,
              Control* control) {
    const Sought sought(algorithm, problem, wish, gpu, threads, control);
    return Adviser(sought).run();
}

}  // namespace tilescope::lab
