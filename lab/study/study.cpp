#include "lab/study/study.hpp"

#include <algorithm>

#include "core/machine/out_of_chip_memory.hpp"
#include "core/machine/parallel.hpp"
#include "core/text/numbers.hpp"
#include "lab/model/timing.hpp"
#include "lab/workload/paging.hpp"

namespace tilescope::lab {
namespace {

constexpr int most_at_once = 8;

/// "O does not fit: 393,216 B of registers at line 5, there are 262,144 B".
std::string does_not_fit(const OutOfChipMemory& e) {
    return e.wanted.name + " does not fit: " + text::grouped(e.used + e.wanted.bytes) + " B of " + name_of(e.space) +
           " at line " + std::to_string(e.line) + ", there are " + text::grouped(e.capacity) + " B";
}

}  // namespace

std::string why_incomplete(const Report& r) {
    if (!r.no_time.empty()) return (r.fits_sm() ? "no time: " : "does not fit: ") + r.no_time;
    if (r.time && r.time->spills()) return why_infeasible(*r.time);
    std::string why;
    if (r.time && !r.dram()) why = "no DRAM traffic: " + r.time->no_dram;
    if (const std::string untimed = untimed_pages(r.experiment.problem); r.time && !untimed.empty())
        why += (why.empty() ? "" : "; ") + untimed;
    return why;
}

Outcome outcome_of(const Experiment& e, Control* control) {
    Outcome out{e};
    try {
        out.report = count_and_time(e, control);
    } catch (const OutOfChipMemory& error) {
        out.lacks = error.space, out.remark = does_not_fit(error);
        return out;
    }
    out.remark = why_incomplete(*out.report);
    return out;
}

void study(Index n, int threads, const std::function<Outcome(Index)>& evaluate,
           const std::function<void(Index, const Outcome&)>& take) {
    in_order(n, threads > 0 ? threads : std::min(cores(), most_at_once),
             [&](Index, Index k) { return [&take, k, outcome = evaluate(k)] { take(k, outcome); }; });
}

}  // namespace tilescope::lab
