// Inputs of 8 bits: values divided by scales and rounded, as whoever prepares Q, K and V for a kernel does it.
#pragma once

#include <span>
#include <vector>

#include "algorithms/contract/computation.hpp"

namespace tilescope::lab {

/// The type in which values are kept until stored_inputs(): f32 for numbers of 8 bits, because scales follow from all
/// values.
constexpr Dtype before_rounding(Dtype stored) {
    return size_of(stored) == 1 && stored != Dtype::u8 ? Dtype::f32 : stored;
}

/// The inputs as they are stored. Values of tensors of 8 bits are divided by their scale, which makes the greatest of
/// them the greatest of the type, and rounded; those of Q (also of more bits) and K are rotated first, where the
/// problem says so. The scales are added, and the values before, for references: exact_name().
/// A sentence for each input that had numbers beyond the end of its type of 8 bits, where it has no scale.
std::vector<std::string> about_saturated(const Problem& problem, const std::vector<TensorDecl>& tensors,
                                         const Inputs& inputs);

Inputs stored_inputs(const Problem& problem, const std::vector<TensorDecl>& tensors, Inputs inputs);

/// Multiplies rows of d elements by diag(+-1) H / sqrt(d), with signs drawn once for all and H the Hadamard matrix of
/// d, a power of two (FlashAttention-3, arXiv 2407.08608, section 3.3). The matrix is orthogonal: products of rows
/// stay.
void rotate(std::span<float> rows, Index d);
/// Additions of that: d log2 d a row, of Q and of K.
Count flops_of_rotation(const Problem& problem);

}  // namespace tilescope::lab
