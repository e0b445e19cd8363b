#include "lab/study/study.hpp"

#include <algorithm>

#include "core/machine/out_of_chip_memory.hpp"
#include "core/machine/parallel.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/model/timing.hpp"
#include "lab/workload/paging.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr int most_at_once = 8;

std::string does_not_fit(const OutOfChipMemory& e) {
    return message("study.tile_does_not_fit", e.wanted.name, e.used + e.wanted.bytes, name_of(e.space),
                   std::to_string(e.line), e.capacity);
}

}  // namespace

std::string why_incomplete(const Report& r) {
    if (!r.no_time.empty()) return message(r.fits_sm() ? "study.no_time" : "study.does_not_fit", r.no_time);
    if (r.time && r.time->spills()) return why_infeasible(*r.time);
    std::vector<std::string> why;
    if (r.time && !r.dram()) why.push_back(message("study.no_dram", r.time->no_dram));
    if (const std::string untimed = untimed_pages(r.experiment.problem); r.time && !untimed.empty())
        why.push_back(untimed);
    return text::join(why, "; ");
}

Outcome outcome_of(const Experiment& e, Control* control, Studied studied) {
    Outcome out{e};
    try {
        out.report = studied == Studied::times ? count_and_time(e, control) : count(e, control);
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
