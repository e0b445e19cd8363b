// The logits in double precision, of which both the attention and its gradients are.
#pragma once

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

/// Dropout of as many elements: what is dropped is 0, the rest is scaled up.
void drop(Matrix& weights, const Problem& problem, Index slice, Span rows, Span keys);

}  // namespace tilescope
