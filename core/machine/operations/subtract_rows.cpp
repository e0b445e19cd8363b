// x_rc -= d_r.
#include "core/machine/gradient_ops.hpp"
#include "core/machine/operations/elements.hpp"

namespace tilescope {

namespace operation {
extern const Operation subtract_rows;
const Operation subtract_rows{.name = "subtract_rows",
                              .kind = Kind::map,
                              .access = Access::update,
                              .price = {.flops = 1},
                              .operates = Operates::by_row,
                              .effect = Effect::subtract_rows,
                              .unit = "counted.subtractions"};
}  // namespace operation

void subtract_rows(Block& b, Tile& x, const Tile& d, Here here) {
    Apply::to(b, operation::subtract_rows, x, &d, here,
              [](Elements v, ConstElements w) { with_row_factor(v, w, [](auto e, auto f) { e -= f; }); });
}

}  // namespace tilescope
