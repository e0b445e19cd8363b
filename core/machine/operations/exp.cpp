// x = exp(x). Overflows to infinity as the hardware does.
#include "core/machine/operations/exponential.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation exp;
const Operation exp{.name = "exp",
                    .kind = Kind::map,
                    .access = Access::update,
                    .price = {.exps = 1},
                    .effect = Effect::exp,
                    .unit = "counted.exponentials"};
}  // namespace operation

void exp(Block& b, Tile& x, Here here) {
    Apply::to(b, operation::exp, x, nullptr, here, [](Elements v, ConstElements) { all(v) = all(v).unaryExpr(Exp()); });
}

}  // namespace tilescope
