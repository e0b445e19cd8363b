// x = c x.
#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation scale;
const Operation scale{.name = "scale",
                      .kind = Kind::map,
                      .access = Access::update,
                      .price = {.flops = 1},
                      .effect = Effect::scale,
                      .unit = "counted.multiplications"};
}  // namespace operation

void scale(Block& b, Tile& x, float factor, Here here) {
    Apply::to(b, operation::scale, x, nullptr, here, [=](Elements v, ConstElements) { all(v) *= factor; });
}

}  // namespace tilescope
