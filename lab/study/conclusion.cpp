#include "lab/study/conclusion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "algorithms/contract/packed.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "core/time/rates.hpp"
#include "lab/model/timing.hpp"

namespace tilescope::lab {
namespace {

double time_of(const Contender& c) { return c.report->time->us(); }

/// By which fraction modelled times must differ to count as different: the stated error; without one, a tenth where
/// kernels of another style were measured, else (machines that were not calibrated) a fifth.
double margin(const Contender& c) {
    const RunTime& t = *c.report->time;
    return t.error ? t.error->mean : t.basis == Basis::other_style ? 0.1 : 0.2;
}

bool too_close(const Contender& a, const Contender& b) {
    return std::max(time_of(a), time_of(b)) < (1 + std::max(margin(a), margin(b))) * std::min(time_of(a), time_of(b));
}

/// "2.4 x", "11 x".
std::string times(double x) {
    char text[32];
    std::snprintf(text, sizeof text, x < 9.95 ? "%.1f x" : "%.0f x", x);
    return text;
}

double ratio(Count a, Count b) { return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : 1; }

/// "its 2 other launches take 12 µs", where that explains at least 30% of the difference; else empty.
std::string about_launches(const RunTime& slow, const RunTime& fast) {
    const double others = slow.us() - slow.longest().us, of_fast = fast.us() - fast.longest().us;
    if (slow.launches.size() <= fast.launches.size() || others - of_fast < 0.3 * (slow.us() - fast.us())) return "";
    const std::size_t n = slow.launches.size() - 1;
    return (n == 1 ? "its other launch takes " : "its " + std::to_string(n) + " other launches take ") +
           text::microseconds(others);
}

/// Whether the ratio `part` of a part explains at least 30% of what the ratio `whole` of the times exceeds 1 by.
bool explains(double part, double whole) { return part - 1 > 0.3 * (whole - 1); }

/// Where launching bounds both runs: their other launches, or the time beside the launch; else empty.
std::string about_launching(const Contender& slow, const Contender& fast) {
    const RunTime &s = *slow.report->time, &f = *fast.report->time;
    if (s.longest().bound != Bound::launch || f.longest().bound != Bound::launch) return "";
    if (s.launches.size() > 1 || f.launches.size() > 1) return about_launches(s, f);
    const auto beside = [](const Contender& c) {
        return text::microseconds(time_of(c) - rates_of(c.report->experiment.gpu).launch_us);
    };
    return beside(slow) + " beside its launch, against " + beside(fast);
}

/// The share of a loop step that is waiting, where it exceeds the fastest's by more than 0.1; else empty.
std::string about_waiting(const StepTime& s, const StepTime& best) {
    const double share = s.waiting / s.alone, least = best.waiting / best.alone;
    if (!(share > least + 0.1)) return "";
    return "a loop step waits for " + text::percent(share) + " of its time (barriers, reductions, loads), against " +
           text::percent(least);
}

/// What is worse in the longest launch than in the fastest's, for contenders with no worse counted number.
std::vector<std::string> about_launch(const LaunchTime& l, const LaunchTime& best) {
    std::vector<std::string> reasons;
    if (l.tail > best.tail + 0.05)
        reasons.push_back("slots are empty for " + text::percent(l.tail) + " of the time at its end, against " +
                          text::percent(best.tail));
    if (l.resident * static_cast<double>(l.warps) < 0.8 * best.resident * static_cast<double>(best.warps))
        reasons.push_back(text::number(std::round(10 * l.resident * static_cast<double>(l.warps)) / 10) +
                          " warps on an SM on average against " +
                          text::number(std::round(10 * best.resident * static_cast<double>(best.warps)) / 10));
    return reasons;
}

/// The busiest unit of a launch, and how busy the same unit is in the fastest's.
std::string about_units(const LaunchTime& l, const LaunchTime& best) {
    const auto unit = std::max_element(l.busy.begin(), l.busy.end()) - l.busy.begin();
    const auto k = static_cast<std::size_t>(unit);
    return std::string(in_words(static_cast<Unit>(unit))) + " at work " + text::percent(l.busy[k]) +
           " of the time, against " + text::percent(best.busy[k]);
}

/// Why a contender takes longer than the fastest: what is counted first, and then what the model says.
std::string reason(const Contender& slow, const Contender& fast) {
    const Report &s = *slow.report, &f = *fast.report;
    const LaunchTime &l = s.time->longest(), &best = f.time->longest();
    const double flops = ratio(s.counters.matmul_flops, f.counters.matmul_flops);
    const double traffic = ratio(s.counters.hbm(), f.counters.hbm());
    const auto dram = s.dram(), least = f.dram();
    std::vector<std::string> reasons;
    if (const std::string launching = about_launching(slow, fast); !launching.empty()) return launching;
    const bool alike = s.experiment.algorithm == f.experiment.algorithm && s.experiment.tiling == f.experiment.tiling;
    const double longer = time_of(slow) / time_of(fast);
    if (alike && l.bound != Bound::dram && explains((1 - best.tail) / (1 - l.tail), longer))
        return "slots are empty for " + text::percent(l.tail) + " of the time at its end, against " +
               text::percent(best.tail);
    if (2 * l.sms <= best.sms || (l.bound == Bound::blocks && best.bound != Bound::blocks))
        reasons.push_back(text::counted(l.blocks, "thread block") + " for " + text::grouped(s.experiment.gpu.sms) +
                          " SMs");
    const double many = l.bound == Bound::dram ? 1.1 : 4;  // times the fastest's bytes
    if (dram && least && static_cast<double>(dram->total()) > many * static_cast<double>(least->total()))
        reasons.push_back(text::bytes(dram->total()) + " from and to DRAM against " + text::bytes(least->total()));
    if (flops > 1.1) reasons.push_back(times(flops) + " the matrix FLOPs");
    if (reasons.empty() && traffic > 1.1 && waits_for_memory(l)) reasons.push_back(times(traffic) + " the SM traffic");
    if (const std::string launches = about_launches(*s.time, *f.time); reasons.empty() && !launches.empty())
        reasons.push_back(launches);
    if (reasons.empty()) reasons = about_launch(l, best);
    if (const std::string waiting = about_waiting(l.step, best.step); reasons.empty() && !waiting.empty())
        reasons.push_back(waiting);
    if (reasons.empty() && s.experiment.tiling == f.experiment.tiling && l.step.alone > 1.02 * best.step.alone)
        reasons.push_back("a loop step takes " + text::grouped(std::llround(l.step.alone)) + " cycles against " +
                          text::grouped(std::llround(best.step.alone)));
    if (reasons.empty()) reasons.push_back(about_units(l, best));
    return text::join(reasons, ", ");
}

std::string about_traffic(const Contender& slow, const Contender& fast) {
    const double share = ratio(slow.report->counters.hbm(), fast.report->counters.hbm());
    if (share >= 0.95) return "";
    return ", though its SM traffic is " + text::percent(share) + " of that";
}

}  // namespace

std::vector<std::string> conclusion(std::span<const Contender> contenders) {
    std::vector<const Contender*> timed;
    std::vector<std::string> infeasible, with_lanes, lines;
    for (const Contender& c : contenders) {
        if (!c.report->time || c.wrong) continue;
        if (c.report->time->without_lanes) {
            with_lanes.push_back(c.label);
            continue;
        }
        const std::string why = why_infeasible(*c.report->time);
        why.empty() ? timed.push_back(&c) : infeasible.push_back(c.label);
    }
    const auto other_problem = [&](const Contender* c) {
        return unpacked(c->report->experiment.problem) != unpacked(timed[0]->report->experiment.problem);
    };
    const std::string not_ranked =
        "Not ranked: " + text::listed(infeasible) + ", because " + why_infeasible(true) + ".";
    if (!infeasible.empty()) lines.push_back(not_ranked);
    if (!with_lanes.empty())
        lines.push_back("Not ranked: " + text::listed(with_lanes) +
                        ", because lanes are not timed: what is modelled is the program without them.");
    const bool alone = timed.size() + infeasible.size() < 2 || timed.empty();
    if (alone || std::any_of(timed.begin(), timed.end(), other_problem)) return lines;
    std::stable_sort(timed.begin(), timed.end(),
                     [](const Contender* a, const Contender* b) { return time_of(*a) < time_of(*b); });
    const Contender& fastest = *timed[0];
    std::vector<std::string> close;
    for (auto c = timed.begin() + 1; c != timed.end(); ++c)
        if (too_close(**c, fastest)) close.push_back((*c)->label + " (" + text::microseconds(time_of(**c)) + ")");
    lines.insert(lines.begin(), "Fastest of these programs, as modelled: " + fastest.label + ", " +
                                    text::microseconds(time_of(fastest)) + "." +
                                    (close.empty() ? "" : " Too close to call: " + text::join(close, ", ") + "."));
    for (auto c = timed.begin() + 1; c != timed.end(); ++c)
        if (!too_close(**c, fastest))
            lines.push_back((*c)->label + " takes " + times(time_of(**c) / time_of(fastest)) +
                            " as long: " + reason(**c, fastest) + about_traffic(**c, fastest) + ".");
    std::vector<std::string> no_dram;
    for (const Contender* c : timed)
        if (!c->report->dram()) no_dram.push_back(c->label);
    if (!no_dram.empty())
        lines.push_back("Without the limit of DRAM, whose traffic is not modelled there: " + text::listed(no_dram) +
                        (no_dram.size() == 1 ? "; it may take longer." : "; they may take longer."));
    return lines;
}

}  // namespace tilescope::lab
