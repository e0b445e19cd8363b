// The logits in double precision, for the references of attention and of its gradients.
#pragma once

#include <cmath>

#include "algorithms/contract/computation.hpp"
#include "algorithms/contract/matrix.hpp"

namespace tilescope {

inline constexpr Index key_chunk = 1024;  ///< keys converted to double at a time

/// The factor on the product of Q and K.
double scale_of_logits(const Problem& problem);

/// scale Q K^T, for some rows of a head and some of its keys.
Matrix products(const Problem& problem, const Inputs& inputs, Index slice, Span rows, Span keys);
/// products() with soft-cap, biases and ALiBi, and -inf where a query does not see a key.
Matrix logits(const Problem& problem, const Inputs& inputs, Index slice, Span rows, Span keys);

/// sum += weights * values. sees(row, k) says whether a row of the sum sees row k of `values`. A hidden row of `values`
/// adds nothing, even where it is NaN or infinite and its weight is 0.
template <class Sees>
void add_seen(Matrix& sum, const Matrix& weights, const Matrix& values, Sees&& sees) {
    if (values.allFinite()) {
        sum.noalias() += weights * values;
        return;
    }
    sum.noalias() += weights * values.unaryExpr([](double x) { return std::isfinite(x) ? x : 0.0; });
    for (Index k = 0; k < values.rows(); ++k)
        for (Index c = 0; c < values.cols(); ++c)
            for (Index r = 0; r < weights.rows() && !std::isfinite(values(k, c)); ++r)
                if (sees(r, k)) sum(r, c) += weights(r, k) * values(k, c);
}

/// Dropout of weights of these rows and keys: dropped ones become 0, the others are divided by 1 - p.
void drop(Matrix& weights, const Problem& problem, Index slice, Span rows, Span keys);

}  // namespace tilescope
