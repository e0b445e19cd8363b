// x *= y, element by element.
#include "core/machine/gradient_ops.hpp"
#include "core/machine/operations/elements.hpp"

namespace tilescope {

namespace operation {
extern const Operation multiply;
const Operation multiply{.name = "multiply",
                         .kind = Kind::map,
                         .access = Access::update,
                         .price = {.flops = 1},
                         .effect = Effect::multiply,
                         .unit = "counted.multiplications"};
}  // namespace operation

void multiply(Block& b, Tile& x, const Tile& y, Here here) {
    Apply::to(b, operation::multiply, x, &y, here, [](Elements v, ConstElements w) { all(v) *= all(w); });
}

}  // namespace tilescope
