// x = cap tanh(x / cap).
#include <cmath>

#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation soft_cap;
const Operation soft_cap{.name = "soft_cap",
                         .kind = Kind::map,
                         .access = Access::update,
                         .price = {.exps = 1},
                         .effect = Effect::cap,
                         .unit = "counted.special_function_operations"};
}  // namespace operation

void soft_cap(Block& b, Tile& x, float cap, Here here) {
    // std::tanh, because Eigen's own clamps its argument and turns NaN into a number.
    Apply::to(b, operation::soft_cap, x, nullptr, here, [=](Elements v, ConstElements) {
        all(v) = all(v).unaryExpr([=](float s) { return cap * std::tanh(s / cap); });
    });
}

}  // namespace tilescope
