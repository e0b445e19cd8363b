// The search behind `--tiles best`.
#include <algorithm>
#include <limits>

#include "lab/mapping.hpp"
#include "lab/timing.hpp"

namespace tilescope::lab {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
/// What the L2 lacks makes a run longer; with a mask, by scheduling, it may be this much shorter all the same.
constexpr double anomaly = 1.03;

constexpr std::size_t most_timed = 32;  // with the L2, of those that take least without it

/// Sizes to try along an axis of so many rows; the given one where there is one.
std::vector<Index> sizes_to_try(Index given, Index rows, bool all) {
    if (given > 0) return {given};
    std::vector<Index> list;
    constexpr Index most = 512, unit = 16;
    const auto next = [&](Index n) {  // 16, 32, 48, 64, 96, 128, 192, ...
        const bool power_of_two = (n & (n - 1)) == 0;
        return all ? n + unit : n + std::max(unit, power_of_two ? n / 2 : n / 3);
    };
    for (Index n = unit; n <= most && n < rows + unit; n = next(n)) list.push_back(std::min(n, rows));
    return list;
}

double value_of(const Experiment& e, Objective objective, Control* control) {
    check_stop(control);
    if (objective == Objective::sm_traffic) return static_cast<double>(count(e, control).counters.hbm());
    const RunTime t = time_of(e);
    if (objective == Objective::time) return t.us();
    const auto dram = t.dram();
    return dram ? static_cast<double>(dram->read + dram->written) : unbounded;
}

struct MappingBound {
    Mapping mapping;
    double at_least;  ///< of the objective
};

/// A tiling, with every number of thread blocks on an SM that it leaves: fewer may be better, and what more SRAM allows
/// must not make it worse. Timed without the L2, which is quick.
void add_candidates(std::vector<MappingBound>& all, Experiment e, const Wish& wish) {
    if (wish.objective == Objective::sm_traffic) {
        all.push_back({{e.tiling, e.placing}, 0});
        return;
    }
    const auto add = [&] {
        const RunTime t = time_of(e, {.l2 = false});
        all.push_back({{e.tiling, e.placing}, wish.objective == Objective::time ? t.us() : 0});
        return t;
    };
    const RunTime t = add();
    Index fit = 1;
    for (const LaunchTime& l : t.launches) {
        if (l.spills) return all.pop_back();
        fit = std::max(fit, l.residency.blocks);
    }
    for (Index n = fit - 1; n >= 1 && wish.placing.blocks_per_sm == 0; --n) {
        e.placing.blocks_per_sm = n;
        add();
    }
}

}  // namespace

std::optional<Mapping> best_mapping(const Algorithm& algorithm, const Problem& p, const Wish& wish, const GpuSpec& gpu,
                                    Control* control) {
    const bool all = wish.objective == Objective::sm_traffic;
    std::vector<MappingBound> candidates;
    for (const Index br : sizes_to_try(wish.tiling.br, p.seq_q, all))
        for (const Index bc : sizes_to_try(wish.tiling.bc, p.seq_k, all)) {
            check_stop(control);
            const Tiling tiling = with_own_parts({br, bc, wish.tiling.splits}, algorithm, p, gpu);
            if (fits(algorithm, p, tiling, gpu))
                add_candidates(candidates, {&algorithm, p, tiling, gpu, wish.placing}, wish);
        }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const MappingBound& a, const MappingBound& b) { return a.at_least < b.at_least; });
    std::optional<Mapping> best;
    double least = unbounded;
    std::size_t tried = 0;
    for (const MappingBound& c : candidates) {
        if (c.at_least > anomaly * least || (wish.objective == Objective::time && ++tried > most_timed)) break;
        const double value =
            value_of({&algorithm, p, c.mapping.tiling, gpu, c.mapping.placing}, wish.objective, control);
        if (value < least) least = value, best = c.mapping;
    }
    return best;
}

}  // namespace tilescope::lab
