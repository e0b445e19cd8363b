// Matrices in double precision: what the computations' references are written in.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "core/machine/storage.hpp"

namespace tilescope {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Rows of one slice of a tensor.
Matrix rows_of(const Storage& tensor, Index slice, Span rows);
std::vector<double> values_of(const Matrix& m);

/// Of each row: its maximum m, and l, the sum of exp(x - m).
struct RowSums {
    std::vector<double> m, l;
};
/// Softmax of each row, in place. A row of -inf becomes 0, with m = -inf and l = 0; one with a NaN becomes NaN.
RowSums softmax_rows(Matrix& s);

}  // namespace tilescope
