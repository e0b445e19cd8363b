#include "algorithms/contract/refusal.hpp"

#include "algorithms/contract/feature_names.hpp"

namespace tilescope {

std::optional<Refusal> refuses(const Algorithm& algorithm, const Problem& problem) {
    for (const Feature f : all_features) {
        if (!problem.uses(f) || algorithm.supports.has(f)) continue;
        // The softmax of a matrix knows no features of attention; their flags are refused where flags are read. The
        // type is not a flag of attention alone.
        const bool of_attention = f != Feature::eight_bits && !algorithm.computes->features.has(f);
        if (of_attention && !algorithm.computes->features.has(Feature::head_dims)) continue;
        Refusal refusal{f, {}};
        const auto add = [&](const Computation* computes) {
            for (const Algorithm& a : algorithms())
                if (a.computes == computes && a.supports.has(f)) refusal.instead.push_back(&a);
        };
        add(algorithm.computes);
        for (const Computation* other : computations())
            if (refusal.instead.empty()) add(other);
        return refusal;
    }
    return std::nullopt;
}

}  // namespace tilescope
