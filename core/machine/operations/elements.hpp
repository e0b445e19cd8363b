// Elements of tiles as Eigen's arrays: what the operations are written in.
#pragma once

#include <Eigen/Core>
#include <limits>

#include "core/machine/apply.hpp"

namespace tilescope {

inline constexpr float infinity = std::numeric_limits<float>::infinity();

using Array = Eigen::Map<Eigen::Array<float, Eigen::Dynamic, 1>>;
using ConstArray = Eigen::Map<const Eigen::Array<float, Eigen::Dynamic, 1>>;

inline Array all(Elements x) { return {x.data, x.rows * x.cols}; }
inline ConstArray all(ConstElements x) { return {x.data, x.rows * x.cols}; }
inline Array row(Elements x, Index r) { return {x.data + r * x.cols, x.cols}; }
inline ConstArray row(ConstElements x, Index r) { return {x.data + r * x.cols, x.cols}; }

/// Calls f(row of x, element of m) for every row: `m` has one element for each row of x. Where x has a single column,
/// calls f(all of x, all of m) once.
template <class F>
void with_row_factor(Elements x, ConstElements m, F f) {
    if (x.cols == 1) return f(all(x), all(m));
    for (Index r = 0; r < x.rows; ++r) f(row(x, r), m.data[r]);
}

}  // namespace tilescope
