#include "lab/advice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/machine/error.hpp"
#include "core/text/numbers.hpp"
#include "lab/published_tiles.hpp"
#include "lab/timing.hpp"

namespace tilescope::lab {
namespace {

constexpr Index sizes[] = {16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512};
constexpr std::size_t most_ranked = 24;  // of the most promising, which are timed with the L2
constexpr double infinite = std::numeric_limits<double>::infinity();

double value_of(const Outcome& o, Objective objective) {
    if (!o.report) return infinite;
    if (objective == Objective::sm_traffic) return static_cast<double>(o.report->counters.hbm());
    if (!o.report->time) return infinite;
    if (objective == Objective::time) return o.report->time->us();
    const auto dram = o.report->dram();
    return dram ? static_cast<double>(dram->read + dram->written) : infinite;
}

/// At least what it takes, quickly: without the L2. Infinite where it does not fit, or, if `sound`, would spill.
double promise_of(const Experiment& e, Objective objective, bool sound) {
    if (!fits(*e.algorithm, e.problem, e.tiling, e.gpu)) return infinite;
    if (objective == Objective::sm_traffic) return static_cast<double>(count(e).counters.hbm());
    const RunTime t = time_of(e, {.l2 = false});
    return t.spills() && sound ? infinite : objective == Objective::time ? t.us() : 0;
}

std::vector<Index> sizes_of(Index given, Index rows) {
    if (given > 0) return {given};
    std::vector<Index> list;
    for (const Index s : sizes)
        if (list.empty() || list.back() < rows) list.push_back(std::min(s, rows));
    return list;
}

std::string times_more(double more) { return text::number(std::round(more * 100) / 100) + " x"; }

/// What of a loser is worse than of the best, the most telling first.
std::string why_it_loses(const Candidate& c, const Candidate& best) {
    const Outcome& o = c.outcome;
    if (!o.report) return o.remark;
    if (!o.report->time || !best.outcome.report->time) return o.remark;
    const LaunchTime &l = o.report->time->longest(), &b = best.outcome.report->time->longest();
    const double bytes =
        static_cast<double>(o.report->counters.hbm()) / static_cast<double>(best.outcome.report->counters.hbm());
    std::vector<std::string> reasons;
    if (l.spills) reasons.emplace_back("a thread would need more registers than there are");
    if (l.sms < b.sms) reasons.push_back(text::grouped(l.sms) + " instead of " + text::grouped(b.sms) + " SMs in use");
    if (l.residency.blocks < b.residency.blocks)
        reasons.push_back(text::grouped(l.residency.blocks) + " instead of " + text::grouped(b.residency.blocks) +
                          " thread blocks on an SM (" + l.residency.limit + ")");
    if (l.tail > b.tail + 0.05)
        reasons.push_back("a tail of " + text::percent(l.tail) + " instead of " + text::percent(b.tail));
    if (bytes > 1.1) reasons.push_back(times_more(bytes) + " the SM traffic");
    if (l.steps > 1.1 * b.steps) reasons.push_back(times_more(l.steps / b.steps) + " the steps");
    if (reasons.empty()) return c.value > best.value ? std::string("bound by ") + name_of(l.bound) : "";
    return reasons[0] + (reasons.size() > 1 ? ", " + reasons[1] : "");
}

class Search {
  public:
    Search(const Algorithm& a, const Problem& p, const Wish& wish, const GpuSpec& gpu, int threads, Control* control)
        : a_(a), p_(p), wish_(with_splits(wish, a, p, gpu)), gpu_(gpu), threads_(threads), control_(control) {}

    Advice run() {
        Advice advice;
        advice.ranking = ranking();
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
        Candidate c{outcome_of(with(t), control_), 0, name};
        c.value = value_of(c.outcome, wish_.objective);
        return c;
    }

    std::vector<Candidate> ranking() const {
        struct Promise {
            Tiling tiling;
            double at_least;
        };
        const bool choice = wish_.tiling.br == 0 || wish_.tiling.bc == 0;  // else there is nothing better to be had
        std::vector<Promise> all;
        for (const Index br : sizes_of(wish_.tiling.br, p_.seq_q))
            for (const Index bc : sizes_of(wish_.tiling.bc, p_.seq_k)) {
                check_stop(control_);
                const Tiling t = tiles(br, bc);
                if (const double x = promise_of(with(t), wish_.objective, choice); x < infinite) all.push_back({t, x});
            }
        if (all.empty())
            throw RunError(
                "advise: no tiling fits without spilling registers; give the SMs more with --sram KIB, choose another "
                "--gpu, or a smaller --dim");
        std::stable_sort(all.begin(), all.end(),
                         [](const Promise& a, const Promise& b) { return a.at_least < b.at_least; });
        if (wish_.objective != Objective::dram && all.size() > most_ranked) all.resize(most_ranked);
        std::vector<Candidate> list;
        study(
            static_cast<Index>(all.size()), threads_,
            [&](Index k) { return outcome_of(with(all[static_cast<std::size_t>(k)].tiling), control_); },
            [&](Index, const Outcome& o) {
                list.push_back({o, value_of(o, wish_.objective)});
            });
        std::stable_sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) {
            return a.value != b.value ? a.value < b.value
                                      : value_of(a.outcome, Objective::time) < value_of(b.outcome, Objective::time);
        });
        return list;
    }

    std::vector<Candidate> neighbours(const Candidate& best) const {
        const auto step = [](Index size, bool up) {
            const Index* at = std::lower_bound(std::begin(sizes), std::end(sizes), size);
            if (up) return *at == size && at + 1 != std::end(sizes) ? at[1] : 2 * size;
            return at == std::begin(sizes) ? size / 2 : at[-1];
        };
        const Tiling t = best.tiling();
        const std::pair<const char*, Tiling> all[] = {{"taller", tiles(step(t.br, true), t.bc)},
                                                      {"wider", tiles(t.br, step(t.bc, true))},
                                                      {"shorter", tiles(step(t.br, false), t.bc)},
                                                      {"narrower", tiles(t.br, step(t.bc, false))}};
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
    return Search(algorithm, problem, wish, gpu, threads, control).run();
}

}  // namespace tilescope::lab
