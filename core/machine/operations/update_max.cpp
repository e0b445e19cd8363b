// x = max(x, y).
#include "core/machine/operations/elements.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation update_max;
const Operation update_max{.name = "update_max",
                           .kind = Kind::map,
                           .access = Access::update,
                           .price = {.flops = 1},
                           .effect = Effect::max,
                           .unit = "counted.comparisons"};
}  // namespace operation

void update_max(Block& b, Tile& x, const Tile& y, Here here) {
    Apply::to(b, operation::update_max, x, &y, here, [](Elements v, ConstElements w) { all(v) = all(v).max(all(w)); });
}

}  // namespace tilescope
