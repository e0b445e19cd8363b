// The logits in double precision, of which both the attention and its gradients are.
#pragma once

#include <cmath>

#include "algorithms/contract/computation.hpp"
#include "algorithms/contract/matrix.hpp"

namespace tilescope {

inline constexpr Index key_chunk = 1024;  ///< keys converted to double at a time

/// The factor on the product of Q and K.
double scale_of_logits(const Problem& problem);

/// scale Q K^T, of some rows of a head and some of its keys.
Matrix products(const Problem& problem, const Inputs& inputs, Index slice, Span rows, Span keys);
/// The logits that become of them, with -inf where a query does not see a key.
Matrix logits(const Problem& problem, const Inputs& inputs, Index slice, Span rows, Span keys);

/// sum += weights * values, of rows of heads and of what these see or not, sees(row, col): what is hidden from a row
/// adds nothing to it, not even where it is NaN or infinite.
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

/// Dropout of as many elements: what is dropped is 0, the rest is scaled up.
void drop(Matrix& weights, const Problem& problem, Index slice, Span rows, Span keys);

}  // namespace tilescope
