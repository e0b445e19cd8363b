#include "core/machine/tensor_core_sum.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/machine/number_formats.hpp"

namespace tilescope {
namespace {

using Row = Eigen::Array<float, 1, Eigen::Dynamic>;
using Rows = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstRows = Eigen::Map<const Rows>;

constexpr Index products_at_once = 32;  // of one instruction, along k
constexpr int mantissa_bits = 23;

/// The leading bit of x, as a power of two.
float leading(float x) { return float_of(bits_of(x) & 0x7f800000); }

/// The leading bits of factors, as they count in products: that of a subnormal is the least normal number's.
Rows leading_of(const ConstRows& x, Dtype type) {
    const float least = type == Dtype::e4m3 ? 0x1p-6F : 0x1p-14F;
    return x.unaryExpr([=](float one) { return one == 0 ? 0 : std::max(leading(one), least); });
}

/// Numbers in units of their last place, cut towards 0. (Eigen has packets for these, and none for conversions.)
template <class Numbers>
auto cut(const Numbers& x) {
    return x.max(0.0F).floor() + x.min(0.0F).ceil();
}

}  // namespace

void add_products(float* c, const float* a, const float* b, Index m, Index n, Index k, Dtype type, int bits) {
    const ConstRows left(a, m, k), right(b, k, n);
    Eigen::Map<Rows> out(c, m, n);
    if (!left.isFinite().all() || !right.isFinite().all() || !out.isFinite().all()) {
        out.matrix() += (left.matrix() * right.matrix()).eval();
        return;
    }
    const Rows of_left = leading_of(left, type), of_right = leading_of(right, type);
    constexpr float least = 0x1p-100F;  // no c below it is told from 0; its reciprocal is still a number
    const float one = std::ldexp(1.0F, bits);
    const std::uint32_t kept = ~((1U << (mantissa_bits - bits)) - 1);
    Row greatest(n), per_unit(n), product(n), sum(n);
    for (Index i = 0; i < m; ++i) {
        auto row = out.row(i);
        for (Index first = 0; first < k; first += products_at_once) {
            const Index last = std::min(first + products_at_once, k);
            greatest = row.unaryExpr(&leading).max(least);
            for (Index l = first; l < last; ++l) greatest = greatest.max(of_left(i, l) * of_right.row(l));
            per_unit = one / greatest;
            product = row * per_unit;
            sum = cut(product);
            for (Index l = first; l < last; ++l) {
                product = left(i, l) * right.row(l) * per_unit;
                sum += cut(product);
            }
            row = sum.unaryExpr([=](float x) { return float_of(bits_of(x) & kept); }) / per_unit;
        }
    }
}

}  // namespace tilescope
