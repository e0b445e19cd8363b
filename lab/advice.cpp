#include "lab/advice.hpp"

#include <algorithm>
#include <cmath>

#include "core/machine/error.hpp"
#include "core/text/numbers.hpp"
#include "lab/published_tiles.hpp"
#include "lab/timing.hpp"

namespace tilescope::lab {
namespace {

std::string times_more(double more) { return text::number(std::round(more * 100) / 100) + " x"; }

/// Where nothing tells two apart but what they take.
std::string as_good_or_bound(const Candidate& c, const Candidate& best) {
    const RunTime &t = *c.outcome.report->time, &least = *best.outcome.report->time;
    const double longer = t.us() / least.us();
    if (c.value > best.value && longer > 1) return std::string("bound by ") + name_of(t.longest().bound);
    if (c.value < 0.99 * best.value) return "better, but its size was not asked for";
    return longer > 1.005 ? "takes " + times_more(longer) + " as long" : "as good";
}

/// What of a loser is worse than of the best, the most telling first.
std::string why_it_loses(const Candidate& c, const Candidate& best) {
    const Outcome& o = c.outcome;
    if (!o.report) return o.remark;
    if (!o.report->time || !best.outcome.report->time) return o.remark;
    const LaunchTime &l = o.report->time->longest(), &b = best.outcome.report->time->longest();
    const double bytes =
        static_cast<double>(o.report->counters.hbm()) / static_cast<double>(best.outcome.report->counters.hbm());
    std::vector<std::string> reasons;
    if (const std::string why = why_infeasible(*o.report->time); !why.empty()) return why;
    if (l.sms < b.sms) reasons.push_back(text::grouped(l.sms) + " instead of " + text::grouped(b.sms) + " SMs in use");
    if (l.residency.blocks < b.residency.blocks)
        reasons.push_back(text::grouped(l.residency.blocks) + " instead of " + text::grouped(b.residency.blocks) +
                          " thread blocks on an SM (" + l.residency.limit + ")");
    if (l.tail > b.tail + 0.05)
        reasons.push_back("a tail of " + text::percent(l.tail) + " instead of " + text::percent(b.tail));
    if (bytes > 1.1) reasons.push_back(times_more(bytes) + " the SM traffic");
    if (l.steps > 1.1 * b.steps) reasons.push_back(times_more(l.steps / b.steps) + " the steps");
    if (reasons.empty()) return as_good_or_bound(c, best);
    return reasons[0] + (reasons.size() > 1 ? ", " + reasons[1] : "");
}

class Adviser {
  public:
    Adviser(const Algorithm& a, const Problem& p, const Wish& wish, const GpuSpec& gpu, int threads, Control* control)
        : a_(a), p_(p), wish_(with_splits(wish, a, p, gpu)), gpu_(gpu), threads_(threads), control_(control) {}

    Advice run() {
        Advice advice;
        advice.ranking = ranked_tiles(a_, p_, wish_, gpu_, threads_, control_);
        if (advice.ranking.empty())
            throw RunError(
                "advise: no tiling fits without spilling registers; give the SMs more with --sram KIB, choose another "
                "--gpu, or a smaller --dim");
        Candidate& best = advice.ranking[0];
        for (Candidate& c : advice.ranking)
            if (&c != &best) c.why = why_it_loses(c, best);
        const Tiling released = cut_to(p_, published_tiles(a_, p_, gpu_).tiling);
        advice.released = evaluated(tiles(released.br, released.bc), "released");
        advice.released.why = why_it_loses(advice.released, best);
        advice.neighbours = neighbours(best);
        find_floor(advice);
        return advice;
    }

  private:
    Tiling tiles(Index br, Index bc) const { return with_own_parts({br, bc, wish_.tiling.splits}, a_, p_, gpu_); }
    Experiment with(Tiling t) const { return {&a_, p_, t, gpu_, wish_.placing}; }
    Candidate evaluated(Tiling t, const char* name = "") const {
        Candidate c = candidate_of(with(t), wish_.objective, control_);
        c.name = name;
        return c;
    }

    std::vector<Candidate> neighbours(const Candidate& best) const {
        const auto step = [&](Index size, Index rows, bool up) -> Index {  // 0: there is none
            const std::vector<Index> sizes = tile_sizes(0, rows, gpu_);
            if (!up) {
                const auto at = std::lower_bound(sizes.begin(), sizes.end(), size);
                return at == sizes.begin() ? 0 : at[-1];
            }
            const auto at = std::upper_bound(sizes.begin(), sizes.end(), size);
            return at == sizes.end() ? 0 : *at;
        };
        const Tiling t = best.tiling();
        const std::pair<const char*, Tiling> all[] = {{"taller", tiles(step(t.br, p_.seq_q, true), t.bc)},
                                                      {"wider", tiles(t.br, step(t.bc, p_.seq_k, true))},
                                                      {"shorter", tiles(step(t.br, p_.seq_q, false), t.bc)},
                                                      {"narrower", tiles(t.br, step(t.bc, p_.seq_k, false))}};
        std::vector<Candidate> list;
        for (const auto& [name, tiling] : all) {
            if (tiling.br < 1 || tiling.bc < 1 || tiling.br > p_.seq_q || tiling.bc > p_.seq_k) continue;
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

    const Algorithm& a_;
    const Problem& p_;
    const Wish wish_;
    const GpuSpec& gpu_;
    const int threads_;
    Control* const control_;
};

}  // namespace

Advice advise(const Algorithm& algorithm, const Problem& problem, const Wish& wish, const GpuSpec& gpu, int threads,
              Control* control) {
    return Adviser(algorithm, problem, wish, gpu, threads, control).run();
}

}  // namespace tilescope::lab
