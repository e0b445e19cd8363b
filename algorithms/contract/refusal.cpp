#include "algorithms/contract/refusal.hpp"

#include <algorithm>

#include "algorithms/contract/feature_names.hpp"

namespace tilescope {

std::vector<const Algorithm*> who_does(const Computation& computation,
                                       const std::function<bool(const Algorithm&)>& does) {
    std::vector<const Algorithm*> all;
    for (const Algorithm& a : algorithms())
        if (does(a)) all.push_back(&a);
    const auto same = [&](const Algorithm* a) { return a->computes == &computation; };
    const bool has_same = std::any_of(all.begin(), all.end(), same);
    const Computation* const computes = has_same || all.empty() ? &computation : all.front()->computes;
    std::erase_if(all, [&](const Algorithm* a) { return a->computes != computes; });
    return all;
}

std::optional<Refusal> refuses(const Algorithm& algorithm, const Problem& problem) {
    for (const Feature f : all_features) {
        if (!problem.uses(f) || algorithm.supports.has(f)) continue;
        // The softmax of a matrix knows no features of attention; their flags are refused where flags are read. The
        // type is not a flag of attention alone.
        const bool of_attention = f != Feature::eight_bits && !algorithm.computes->features.has(f);
        if (of_attention && !algorithm.computes->features.has(Feature::head_dims)) continue;
        return Refusal{f, who_does(*algorithm.computes, [&](const Algorithm& a) { return a.supports.has(f); })};
    }
    return std::nullopt;
}

}  // namespace tilescope
