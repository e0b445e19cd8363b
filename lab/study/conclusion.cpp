#include "lab/study/conclusion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "algorithms/contract/packed.hpp"
#include "core/machine/sorted.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "core/time/rates.hpp"
#include "lab/model/timing.hpp"
#include "lab/model/verdict.hpp"

namespace tilescope::lab {
using text::message;
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
    return n == 1 ? message("conclusion.other_launch", text::microseconds(others))
                  : message("conclusion.other_launches", n, text::microseconds(others));
}

/// Whether a factor `part` explains more than 30% of the difference between two times whose ratio is `whole`.
bool explains(double part, double whole) { return part - 1 > 0.3 * (whole - 1); }

/// Where launching bounds both runs: how their other launches differ, or their time besides launching; else empty.
std::string about_launching(const Contender& slow, const Contender& fast) {
    const RunTime &s = *slow.report->time, &f = *fast.report->time;
    if (s.longest().bound != Bound::launch || f.longest().bound != Bound::launch) return "";
    if (s.launches.size() > 1 || f.launches.size() > 1) return about_launches(s, f);
    const auto beside = [](const RunTime& t) { return text::microseconds(t.us() - t.longest().launching_us); };
    return message("conclusion.beside_launch", beside(s), beside(f));
}

/// The share of a loop step that is waiting, where it exceeds the fastest's by more than 0.1; else empty.
std::string about_waiting(const StepTime& s, const StepTime& best) {
    const double share = s.waiting / s.alone, least = best.waiting / best.alone;
    if (!(share > least + 0.1)) return "";
    return message("conclusion.step_waits", text::percent(share), text::percent(least));
}

std::string about_tail(const LaunchTime& l, const LaunchTime& best) {
    return message("conclusion.tail", text::percent(l.tail), text::percent(best.tail));
}

/// What is worse in a contender's longest launch than in the fastest's, where no counted number is worse.
std::vector<std::string> about_launch(const LaunchTime& l, const LaunchTime& best) {
    std::vector<std::string> reasons;
    if (l.tail > best.tail + 0.05) reasons.push_back(about_tail(l, best));
    const auto warps = [](const LaunchTime& of) { return of.resident * static_cast<double>(of.warps); };
    const auto rounded = [](double x) { return text::number(std::round(10 * x) / 10); };
    if (warps(l) < 0.8 * warps(best))
        reasons.push_back(message("conclusion.warps", rounded(warps(l)), rounded(warps(best))));
    return reasons;
}

/// The busiest unit of a launch, and how busy the same unit is in the fastest contender's launch.
std::string about_units(const LaunchTime& l, const LaunchTime& best) {
    const auto unit = std::max_element(l.busy.begin(), l.busy.end()) - l.busy.begin();
    const auto k = static_cast<std::size_t>(unit);
    return message("conclusion.busy", in_words(static_cast<Unit>(unit)), text::percent(l.busy[k]),
                   text::percent(best.busy[k]));
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
    if (alike && l.bound != Bound::dram && explains((1 - best.tail) / (1 - l.tail), longer)) return about_tail(l, best);
    if (2 * l.sms <= best.sms || (l.bound == Bound::blocks && best.bound != Bound::blocks))
        reasons.push_back(message("conclusion.few_blocks", l.blocks, s.experiment.gpu.sms));
    const double many = l.bound == Bound::dram ? 1.1 : 4;  // times the fastest's bytes
    if (dram && least && static_cast<double>(dram->total()) > many * static_cast<double>(least->total()))
        reasons.push_back(message("conclusion.dram", text::bytes(dram->total()), text::bytes(least->total())));
    if (flops > 1.1) reasons.push_back(message("conclusion.flops", times(flops)));
    if (reasons.empty() && traffic > 1.1 && waits_for_memory(l))
        reasons.push_back(message("conclusion.traffic", times(traffic)));
    if (const std::string launches = about_launches(*s.time, *f.time); reasons.empty() && !launches.empty())
        reasons.push_back(launches);
    if (reasons.empty() && best.lanes && !l.lanes) reasons.push_back(message("conclusion.lanes"));
    if (reasons.empty()) reasons = about_launch(l, best);
    if (const std::string waiting = about_waiting(l.step, best.step); reasons.empty() && !waiting.empty())
        reasons.push_back(waiting);
    if (reasons.empty() && s.experiment.tiling == f.experiment.tiling && l.step.alone > 1.02 * best.step.alone)
        reasons.push_back(message("conclusion.step", std::llround(l.step.alone), std::llround(best.step.alone)));
    if (reasons.empty()) reasons.push_back(about_units(l, best));
    return text::join(reasons, ", ");
}

std::string about_slower(const Contender& slow, const Contender& fast) {
    const std::string longer = times(time_of(slow) / time_of(fast)), why = reason(slow, fast);
    const double share = ratio(slow.report->counters.hbm(), fast.report->counters.hbm());
    return share < 0.95 ? message("conclusion.slower_despite_traffic", slow.label, longer, why, text::percent(share))
                        : message("conclusion.slower", slow.label, longer, why);
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
    if (!infeasible.empty())
        lines.push_back(message("conclusion.infeasible", text::listed(infeasible), why_infeasible(true)));
    if (!with_lanes.empty()) lines.push_back(message("conclusion.with_lanes", text::listed(with_lanes)));
    const bool alone = timed.size() + infeasible.size() < 2 || timed.empty();
    if (alone || std::any_of(timed.begin(), timed.end(), other_problem)) return lines;
    sort_stably(timed, [](const Contender* a, const Contender* b) { return time_of(*a) < time_of(*b); });
    const Contender& fastest = *timed[0];
    std::vector<std::string> close;
    for (auto c = timed.begin() + 1; c != timed.end(); ++c)
        if (too_close(**c, fastest))
            close.push_back(message("conclusion.one_too_close", (*c)->label, text::microseconds(time_of(**c))));
    std::vector<std::string> first = {
        message("conclusion.fastest", fastest.label, text::microseconds(time_of(fastest)))};
    if (!close.empty()) first.push_back(message("conclusion.too_close", text::join(close, ", ")));
    lines.insert(lines.begin(), text::sentences(first));
    for (auto c = timed.begin() + 1; c != timed.end(); ++c)
        if (!too_close(**c, fastest)) lines.push_back(about_slower(**c, fastest));
    std::vector<std::string> no_dram;
    for (const Contender* c : timed)
        if (!c->report->dram()) no_dram.push_back(c->label);
    if (!no_dram.empty()) lines.push_back(message("conclusion.without_dram", text::listed(no_dram), no_dram.size()));
    return lines;
}

}  // namespace tilescope::lab
