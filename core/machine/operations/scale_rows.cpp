// x_rc *= f_r.
#include "core/machine/operations/elements.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation scale_rows;
const Operation scale_rows{.name = "scale_rows",
                           .kind = Kind::map,
                           .access = Access::update,
                           .price = {.flops = 1},
                           .operates = Operates::by_row,
                           .effect = Effect::scale_rows,
                           .unit = "counted.multiplications"};
}  // namespace operation

void scale_rows(Block& b, Tile& x, const Tile& f, Here here) {
    Apply::to(b, operation::scale_rows, x, &f, here,
              [](Elements v, ConstElements w) { with_row_factor(v, w, [](auto e, auto g) { e *= g; }); });
}

}  // namespace tilescope
