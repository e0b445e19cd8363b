// x_rc = exp(x_rc - m_r). A row whose m is -inf (nothing seen yet, nothing visible) becomes 0, not NaN.
#include "core/machine/operations/exponential.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation exp_minus;
const Operation exp_minus{.name = "exp_minus",
                          .kind = Kind::map,
                          .access = Access::update,
                          .price = {.exps = 1, .flops = 1},
                          .operates = Operates::by_row,
                          .effect = Effect::exp_minus,
                          .unit = "counted.exponentials"};
}  // namespace operation

namespace {

/// m, with -inf replaced by 0: exp(-inf - 0) is 0 where exp(-inf - -inf) would be NaN.
float finite_max(float m) { return m == -infinity ? 0.0f : m; }
template <class T>
auto finite_max(const Eigen::ArrayBase<T>& m) {
    return m.unaryExpr([](float x) { return finite_max(x); });
}

}  // namespace

void exp_minus(Block& b, Tile& x, const Tile& m, Here here) {
    Apply::to(b, operation::exp_minus, x, &m, here, [](Elements v, ConstElements w) {
        with_row_factor(v, w, [](auto e, auto f) { e -= finite_max(f); });
        all(v) = all(v).unaryExpr(Exp());  // all rows at once: single rows would leave SIMD lanes unused
    });
}

}  // namespace tilescope
