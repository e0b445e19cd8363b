#include "algorithms/contract/refusal.hpp"

namespace tilescope {

std::optional<Refusal> refuses(const Algorithm& algorithm, const Problem& problem) {
    for (const Feature f : all_features) {
        if (!problem.uses(f) || algorithm.supports.has(f)) continue;
        // The softmax of a matrix knows no features of attention; their flags are refused where flags are read.
        if (!algorithm.computes->features.has(f) && !algorithm.computes->features.has(Feature::head_dims)) continue;
        Refusal refusal{f, {}};
        for (const Algorithm& a : algorithms())
            if (a.computes == algorithm.computes && a.supports.has(f)) refusal.instead.push_back(&a);
        return refusal;
    }
    return std::nullopt;
}

}  // namespace tilescope
