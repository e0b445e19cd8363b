#include "lab/conclusion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "algorithms/contract/packed.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
namespace {

double time_of(const Contender& c) { return c.report->time->us(); }

/// How far apart modelled times have to be: the stated error; where a kernel's like was not measured, a tenth, and on
/// machines that were not calibrated a fifth.
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

/// Why a contender takes longer than the fastest.
std::string reason(const Contender& slow, const Contender& fast) {
    const Report &s = *slow.report, &f = *fast.report;
    const LaunchTime &l = s.time->longest(), &best = f.time->longest();
    const double flops = ratio(s.counters.matmul_flops, f.counters.matmul_flops);
    const auto dram = s.dram(), least = f.dram();
    std::vector<std::string> reasons;
    const bool alike = s.experiment.algorithm == f.experiment.algorithm && s.experiment.tiling == f.experiment.tiling;
    if (alike && l.bound != Bound::dram && l.tail > best.tail + 0.01)
        return "slots are empty for " + text::percent(l.tail) + " of the time at its end, against " +
               text::percent(best.tail);
    if (2 * l.sms <= best.sms || (l.bound == Bound::blocks && best.bound != Bound::blocks))
        reasons.push_back(text::counted(l.blocks, "thread block") + " for " + text::grouped(s.experiment.gpu.sms) +
                          " SMs");
    if (dram && least && (l.bound == Bound::dram || dram->read + dram->written > 4 * (least->read + least->written)))
        reasons.push_back(text::bytes(dram->read + dram->written) + " from and to DRAM against " +
                          text::bytes(least->read + least->written));
    if (flops > 1.1) reasons.push_back(times(flops) + " the matrix FLOPs");
    if (s.time->launches.size() > f.time->launches.size() && reasons.empty())
        reasons.push_back(std::to_string(s.time->launches.size()) + " launches");
    const bool otherwise = reasons.empty();
    if (otherwise && ratio(s.counters.hbm(), f.counters.hbm()) > 1.1)
        reasons.push_back(times(ratio(s.counters.hbm(), f.counters.hbm())) + " the SM traffic");
    if (otherwise && s.experiment.tiling == f.experiment.tiling && l.step.alone > 1.02 * best.step.alone)
        reasons.push_back("a step takes " + text::grouped(std::llround(l.step.alone)) + " cycles against " +
                          text::grouped(std::llround(best.step.alone)));
    if (reasons.empty()) reasons.push_back(std::string("bound by ") + name_of(l.bound));
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
    for (const Contender& c : contenders)
        if (c.report->time && !c.wrong) timed.push_back(&c);
    const auto other_problem = [&](const Contender* c) {
        return unpacked(c->report->experiment.problem) != unpacked(timed[0]->report->experiment.problem);
    };
    if (timed.size() < 2 || std::any_of(timed.begin(), timed.end(), other_problem)) return {};
    std::stable_sort(timed.begin(), timed.end(),
                     [](const Contender* a, const Contender* b) { return time_of(*a) < time_of(*b); });
    const Contender& fastest = *timed[0];
    std::vector<std::string> close, lines;
    for (auto c = timed.begin() + 1; c != timed.end(); ++c)
        if (too_close(**c, fastest)) close.push_back((*c)->label + " (" + text::microseconds(time_of(**c)) + ")");
    lines.push_back("Fastest of these programs, as modelled: " + fastest.label + ", " +
                    text::microseconds(time_of(fastest)) + "." +
                    (close.empty() ? "" : " Too close to call: " + text::join(close, ", ") + "."));
    for (auto c = timed.begin() + 1; c != timed.end(); ++c)
        if (!too_close(**c, fastest))
            lines.push_back((*c)->label + " takes " + times(time_of(**c) / time_of(fastest)) +
                            " as long: " + reason(**c, fastest) + about_traffic(**c, fastest) + ".");
    return lines;
}

}  // namespace tilescope::lab
