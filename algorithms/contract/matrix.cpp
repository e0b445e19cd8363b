#include "algorithms/contract/matrix.hpp"

#include <limits>

namespace tilescope {

Matrix rows_of(const Storage& t, Index slice, Span rows) {
    Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> f(rows.size, t.cols());
    t.read(slice, rows, {0, t.cols()}, f.data());
    return f.cast<double>();
}

std::vector<double> values_of(const Matrix& m) { return {m.data(), m.data() + m.size()}; }

RowSums softmax_rows(Matrix& s) {
    RowSums sums;
    for (Eigen::Index r = 0; r < s.rows(); ++r) {
        auto row = s.row(r).array();
        const double m = row.maxCoeff<Eigen::PropagateNaN>();
        double l = 0;
        if (m == -std::numeric_limits<double>::infinity()) {
            row.setZero();
        } else {
            row = (row - m).exp();
            l = row.sum();
            row /= l;
        }
        sums.m.push_back(m);
        sums.l.push_back(l);
    }
    return sums;
}

}  // namespace tilescope
