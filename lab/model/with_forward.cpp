#include "lab/model/with_forward.hpp"

#include <algorithm>

#include "lab/model/timing.hpp"

namespace tilescope::lab {
namespace {

/// Adds tensors to `all`; where both have a tensor, their traffic is added up.
void add_tensors(std::vector<TensorReport>& all, const std::vector<TensorReport>& more) {
    for (const TensorReport& t : more) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == t.name; });
        if (same == all.end())
            all.push_back(t);
        else
            same->traffic += t.traffic, same->extra |= t.extra;
    }
}

std::optional<RunTime> one_after_the_other(const std::optional<RunTime>& forward,
                                           const std::optional<RunTime>& backward) {
    if (!forward || !backward) return std::nullopt;
    RunTime both = *backward;
    both.launches.insert(both.launches.begin(), forward->launches.begin(), forward->launches.end());
    both.error.reset();
    both.basis = std::max(both.basis, forward->basis);
    if (both.no_dram.empty()) both.no_dram = forward->no_dram;
    return both;
}

}  // namespace

Bytes kept_for_backward(const Experiment& e) {
    Bytes kept = 0;
    for (const TensorDecl& t : e.algorithm->tensors(e.problem, e.tiling))
        if (t.saved && t.meaning != Meaning::output) kept += t.slices * t.rows * t.cols * size_of(t.dtype);
    return kept;
}

Report with_forward(const Report& backward, const Wish& wish, Control* control) {
    const Experiment& e = backward.experiment;
    const Algorithm& algorithm = *find_algorithm(e.algorithm->lineage.forward);
    Wish own = wish;
    own.tiling = {};
    const Report f = count_and_time(mapped(algorithm, e.problem, own, e.gpu, control), control);
    Report both = backward;
    both.forward = &algorithm;
    both.counters += f.counters;
    both.tensors = f.tensors;
    add_tensors(both.tensors, backward.tensors);
    both.hbm_footprint = both.hbm_extra = 0;
    for (const TensorReport& t : both.tensors) both.hbm_footprint += t.bytes, both.hbm_extra += t.extra ? t.bytes : 0;
    both.launches.insert(both.launches.begin(), f.launches.begin(), f.launches.end());
    both.sram_peak = std::max(both.sram_peak, f.sram_peak);
    both.register_peak = std::max(both.register_peak, f.register_peak);
    both.notes.insert(both.notes.begin(), f.notes.begin(), f.notes.end());
    both.time = one_after_the_other(f.time, backward.time);
    if (both.no_time.empty()) both.no_time = f.no_time;
    return both;
}

}  // namespace tilescope::lab
