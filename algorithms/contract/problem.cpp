#include "algorithms/contract/problem.hpp"

#include <cmath>

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

void check_size(const std::string& flag, Index value) {
    constexpr Index most = Index{1} << 40;
    if (value < 1 || value > most)
        throw UsageError(flag + ' ' + std::to_string(value) + ": must be from 1 to 2^40; try " + flag +
                         (value < 1 ? " 1" : " 65536"));
}

void validate(const Problem& p) {
    check_size("--batch", p.batch);
    check_size("--heads", p.heads);
    check_size("--kv-heads", p.kv_heads);
    check_size("--seq-q", p.seq_q);
    check_size("--seq-k", p.seq_k);
    check_size("--dim", p.dim);
    check_size("--dim-v", p.dim_v);
    if (p.heads % p.kv_heads != 0)
        throw UsageError("--kv-heads " + std::to_string(p.kv_heads) + ": must divide --heads " +
                         std::to_string(p.heads) + " (grouped heads share K and V); try --kv-heads 1");
    if (p.scale && !std::isfinite(*p.scale)) throw UsageError("--scale: must be a finite number; try --scale 0.125");
    // The largest counter is below 128 times this product even with tiles of one row and one column.
    const double work = static_cast<double>(p.batch) * static_cast<double>(p.heads) * static_cast<double>(p.seq_q) *
                        static_cast<double>(p.seq_k) * static_cast<double>(p.dim + p.dim_v);
    if (work > std::ldexp(1.0, 56))
        throw UsageError("--seq-q " + std::to_string(p.seq_q) + " --seq-k " + std::to_string(p.seq_k) +
                         ": batch x heads x seq-q x seq-k x (dim + dim-v) must stay below 2^56 for counts to be "
                         "exact; shorten --seq or use fewer --heads");
}

}  // namespace tilescope
