#include "lab/model/bound.hpp"

#include <algorithm>

#include "lab/model/laned_verdict.hpp"

namespace tilescope::lab {
namespace {

constexpr double most_of_the_time = 0.6;  // a unit that is busy for at least this share is the limit

/// Iterations of a thread block in the loop of this passage, ragged ones included.
double turns_of_loop(const BlockOutline& b, std::size_t passage) {
    const Index loop = b.passages[passage].loop;
    Count turns = 0;
    for (const Passage& p : b.passages) turns += p.loop == loop ? p.total : 0;
    return static_cast<double>(turns) / static_cast<double>(b.blocks);
}

/// L2 and DRAM can be the bound only of a launch that waits_for_memory(). In other launches they may be busy, but
/// nothing waits for them.
Bound bound_of(const LaunchTime& t, double launching) {
    if (launching > 0.4 * t.us) return Bound::launch;
    const auto on_chip_end = static_cast<std::ptrdiff_t>(Unit::l2);
    const auto busiest_of = [](const PerUnit& busy, std::ptrdiff_t from, std::ptrdiff_t to) {
        return static_cast<Unit>(std::max_element(busy.begin() + from, busy.begin() + to) - busy.begin());
    };
    const bool for_memory = waits_for_memory(t);
    if (const Unit u = busiest_of(t.busy, 0, for_memory ? static_cast<std::ptrdiff_t>(unit_count) : on_chip_end);
        !t.lanes && t.busy[static_cast<std::size_t>(u)] >= most_of_the_time)
        return bound_by(u);
    if (t.resident < 0.5 * static_cast<double>(t.residency.blocks)) return Bound::blocks;
    if (t.lanes) return laned_bound(*t.lanes);
    const auto r = static_cast<double>(t.residency.blocks);
    const double together = t.step.together(t.residency.blocks);
    const double memory = for_memory ? r * std::max(t.step.memory, t.step.bus) / together : 0,
                 blocked = r * t.step.residents * t.step.busiest,
                 on_chip = std::max(blocked, r * t.step.queued) / together;
    if (std::max(memory, on_chip) < most_of_the_time) return Bound::dependency;
    return memory > on_chip ? bound_by(busiest_of(t.step.busy, on_chip_end, static_cast<std::ptrdiff_t>(unit_count)))
                            : bound_by(busiest_of(t.step.busy, 0, on_chip_end));
}

}  // namespace

void set_bound(LaunchTime& t, const TimedLaunch& launch, double cycles, Index sms, double launching_us) {
    double most = -1;
    PerUnit work{};
    for (const TimedBlock& b : launch.timed_blocks())
        for (std::size_t k = 0; k < b.steps.size(); ++k) {
            const double total = static_cast<double>(b.outline->passages[k].total);
            for (std::size_t u = 0; u < unit_count; ++u) work[u] += total * b.steps[k].busy[u];
            if (const double spent = total * b.steps[k].alone; spent > most)
                most = spent, t.step = b.steps[k], t.steps = turns_of_loop(*b.outline, k);
        }
    const double whole = t.us > launching_us ? cycles * static_cast<double>(sms) : 1;
    for (std::size_t u = 0; u < unit_count; ++u) t.busy[u] = work[u] / whole;
    t.bound = bound_of(t, launching_us);
}

Bound bound_by(Unit unit) { return static_cast<Bound>(static_cast<int>(Bound::tensor) + static_cast<int>(unit)); }
Unit unit_of(Bound bound) { return static_cast<Unit>(static_cast<int>(bound) - static_cast<int>(Bound::tensor)); }

}  // namespace tilescope::lab
