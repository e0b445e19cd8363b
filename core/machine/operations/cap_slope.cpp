// x = 1 - (y / cap)^2.
#include "core/machine/gradient_ops.hpp"
#include "core/machine/operations/elements.hpp"

namespace tilescope {

namespace operation {
extern const Operation cap_slope;
const Operation cap_slope{.name = "cap_slope",
                          .kind = Kind::map,
                          .price = {.flops = 2},
                          .effect = Effect::slope_of_cap,
                          .unit = "counted.multiplications_or_subtractions"};
}  // namespace operation

void cap_slope(Block& b, Tile& x, const Tile& y, float cap, Here here) {
    Apply::to(b, operation::cap_slope, x, &y, here,
              [=](Elements v, ConstElements w) { all(v) = 1 - (all(w) / cap).square(); });
}

}  // namespace tilescope
