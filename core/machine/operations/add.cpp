// x += y.
#include "core/machine/operations/elements.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation add;
const Operation add{.name = "add",
                    .kind = Kind::map,
                    .access = Access::update,
                    .price = {.flops = 1},
                    .effect = Effect::add,
                    .unit = "counted.additions"};
}  // namespace operation

void add(Block& b, Tile& x, const Tile& y, Here here) {
    Apply::to(b, operation::add, x, &y, here, [](Elements v, ConstElements w) { all(v) += all(w); });
}

}  // namespace tilescope
