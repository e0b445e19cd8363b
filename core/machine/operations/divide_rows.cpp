// x_rc /= l_r; rows with l_r = 0 (they saw nothing, and hold zeros) stay as they are.
#include "core/machine/operations/elements.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation divide_rows;
const Operation divide_rows{.name = "divide_rows",
                            .kind = Kind::map,
                            .access = Access::update,
                            .price = {.flops = 1},
                            .operates = Operates::by_row,
                            .effect = Effect::divide_rows,
                            .unit = "counted.divisions"};
}  // namespace operation

namespace {

float nonzero(float l) { return l == 0.0f ? 1.0f : l; }
template <class T>
auto nonzero(const Eigen::ArrayBase<T>& l) {
    return l.unaryExpr([](float x) { return nonzero(x); });
}

}  // namespace

void divide_rows(Block& b, Tile& x, const Tile& l, Here here) {
    Apply::to(b, operation::divide_rows, x, &l, here,
              [](Elements v, ConstElements w) { with_row_factor(v, w, [](auto e, auto g) { e /= nonzero(g); }); });
}

}  // namespace tilescope
