#include "core/time/parts.hpp"

#include <algorithm>

namespace tilescope {
namespace {

/// How much longer a step of each of r residents takes than a step of one alone.
LoopTime waits(const StepTime& s, Index r, double sharing) {
    const double unit = s.waiting_for_unit(r);
    return {0, unit, std::max(0.0, s.together(r, sharing) - s.alone - unit)};
}

}  // namespace

BlockCycles BlockWork::cycles(Index slots, double sharing) const {
    BlockCycles out;
    out.reserve(static_cast<std::size_t>(slots));
    for (Index r = 1; r <= slots; ++r) out.push_back(cycles_beside(r, sharing));
    return out;
}

double BlockWork::cycles_beside(Index residents, double sharing) const {
    double sum = fixed + unhidden.beside(residents, sharing);
    for (const LoopWork& l : loops) sum += l.turns * l.step.together(residents, sharing);
    return sum;
}

double BlockWork::outside(std::span<const Progress> progress) const {
    double sum = fixed;
    for (const Progress& p : progress) sum += p.part * unhidden.beside(p.residents, p.sharing);
    return sum;
}

PerUnit BlockWork::busy() const {
    PerUnit sum{};
    for (const LoopWork& l : loops)
        for (std::size_t u = 0; u < unit_count; ++u) sum[u] += (l.turns - l.masked) * l.step.busy[u];
    return sum;
}

LoopTime time_in(const LoopWork& l, std::span<const Progress> progress) {
    LoopTime t;
    for (const Progress& p : progress) {
        const LoopTime w = waits(l.step, p.residents, p.sharing);
        t.own += p.part * l.turns * l.step.alone;
        t.unit += p.part * l.turns * w.unit;
        t.memory += p.part * l.turns * w.memory;
    }
    return t;
}

std::vector<Term> terms_of(const StepTime& s) {
    std::vector<Term> terms;
    if (s.overlapped) return terms;
    double sum = 0;
    for (std::size_t u = 0; u < static_cast<std::size_t>(Unit::l2); ++u) sum += s.busy[u];
    for (std::size_t u = 0; u < static_cast<std::size_t>(Unit::l2); ++u)
        if (s.busy[u] > 0) terms.push_back({static_cast<Unit>(u), (s.alone - s.waiting) * s.busy[u] / sum});
    return terms;
}

void each_company(std::span<const Stay> stays, std::span<const std::size_t> on_sm,
                  const std::function<void(const Company&)>& f) {
    std::vector<std::size_t> resident;
    std::size_t next = 0;
    for (double now = 0; next < on_sm.size() || !resident.empty();) {
        if (resident.empty()) now = stays[on_sm[next]].from;
        for (; next < on_sm.size() && stays[on_sm[next]].from <= now; ++next) resident.push_back(on_sm[next]);
        double until = next < on_sm.size() ? stays[on_sm[next]].from : stays[resident[0]].to;
        for (const std::size_t s : resident) until = std::min(until, stays[s].to);
        if (until > now) f({now, until, resident});
        now = until;
        std::erase_if(resident, [&](std::size_t s) { return stays[s].to <= now; });
    }
}

std::vector<std::uint32_t> slots_of(std::span<const Stay> stays, std::span<const std::size_t> on_sm) {
    std::vector<double> free_from;
    std::vector<std::uint32_t> slots;
    for (const std::size_t s : on_sm) {
        const auto found =
            std::find_if(free_from.begin(), free_from.end(), [&](double from) { return from <= stays[s].from; });
        slots.push_back(static_cast<std::uint32_t>(found - free_from.begin()));
        if (found == free_from.end())
            free_from.push_back(stays[s].to);
        else
            *found = stays[s].to;
    }
    return slots;
}

}  // namespace tilescope
