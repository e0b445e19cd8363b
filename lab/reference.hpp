// The first witness: attention and softmax in double precision, straight from the definition.
#pragma once

#include "lab/experiment.hpp"

namespace tilescope {

/// Rows [rows.begin, rows.end()) of one batch x head slice of the family's output, row-major in double precision.
/// Attention: `inputs` holds Q, K, V; rows that see no key are 0. Softmax: X; the values that all rows have.
std::vector<double> reference_rows(Family family, const Problem& problem, const Inputs& inputs, Index slice, Span rows);

/// Compares outputs (O or Y of the problem's shape) with the reference, which is computed once for all of them, a few
/// rows at a time. Throws Interrupted.
std::vector<OutputError> compare_with_reference(Family family, const Problem& problem, const Inputs& inputs,
                                                const std::vector<std::shared_ptr<const Storage>>& outputs,
                                                int threads = 0, Control* control = nullptr);

/// The reference of a whole problem, kept in memory (8 bytes an element) for many outputs to be compared with.
class Reference {
  public:
    /// Throws Interrupted.
    Reference(Family family, const Problem& problem, const Inputs& inputs, int threads = 0, Control* control = nullptr);
    /// The largest absolute value of a finite element.
    double largest() const { return largest_; }
    OutputError compare(const Storage& output) const;

  private:
    Index rows_ = 0, cols_ = 0;
    int threads_;
    double largest_ = 0;
    std::vector<double> values_;
};

}  // namespace tilescope
