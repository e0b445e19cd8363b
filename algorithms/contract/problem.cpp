#include "algorithms/contract/problem.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/contract/packed.hpp"
#include "algorithms/contract/validate.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

const char* name_of(Softmax softmax) { return softmax == Softmax::naive ? "naive" : "safe"; }

float Problem::logit_scale() const {
    return static_cast<float>(scale ? *scale : 1.0 / std::sqrt(static_cast<double>(dim)));
}

const char* name_of(Feature feature) {
    constexpr const char* names[] = {"a head dimension", "grouped heads", "a scale", "a mask", "the naive softmax"};
    return names[static_cast<int>(feature)];
}

bool Problem::uses(Feature feature) const {
    switch (feature) {
        case Feature::head_dims:
            return false;  // every problem has them
        case Feature::grouped_heads:
            return kv_heads != heads;
        case Feature::scale:
            return scale.has_value();
        case Feature::mask:
            return mask.hides();
        case Feature::naive_softmax:
            return softmax == Softmax::naive;
    }
    return false;
}

Problem packed(Problem p) {
    const Index g = p.heads / p.kv_heads;
    p.packed *= g, p.seq_q *= g, p.heads = p.kv_heads;
    return p;
}

Problem unpacked(Problem p) {
    p.heads *= p.packed, p.seq_q /= p.packed, p.packed = 1;
    return p;
}

void check_size(const char* field, Index value) {
    constexpr Index most = Index{1} << 40;
    if (value < 1 || value > most)
        throw BadValue(field, std::to_string(value), "must be from 1 to 2^40", value < 1 ? "1" : "65536");
}

void validate(const Problem& p) {
    check_size("batch", p.batch);
    check_size("heads", p.heads);
    check_size("kv_heads", p.kv_heads);
    check_size("seq_q", p.seq_q);
    check_size("seq_k", p.seq_k);
    check_size("dim", p.dim);
    check_size("dim_v", p.dim_v);
    if (p.heads % p.kv_heads != 0) {
        Index most = std::min(p.kv_heads, p.heads);
        while (p.heads % most != 0) --most;
        throw BadValue("kv_heads", std::to_string(p.kv_heads),
                       "must divide the " + std::to_string(p.heads) + " heads (grouped heads share K and V)",
                       std::to_string(most));
    }
    if (p.scale && !std::isfinite(*p.scale))
        throw BadValue("scale", std::to_string(*p.scale), "must be a finite number", "0.125");
    // The largest counter is below 128 times this product even with tiles of one row and one column.
    const double work = static_cast<double>(p.batch) * static_cast<double>(p.heads) * static_cast<double>(p.seq_q) *
                        static_cast<double>(p.seq_k) * static_cast<double>(p.dim + p.dim_v);
    if (work > std::ldexp(1.0, 56))
        throw BadValue("seq_q", std::to_string(p.seq_q),
                       "with " + std::to_string(p.seq_k) +
                           " keys, batch x heads x rows x keys x (dim + dim_v) must "
                           "stay below 2^56 for counts to be exact; shorten the sequences or use fewer heads");
}

}  // namespace tilescope
