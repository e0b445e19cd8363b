// x_c += sum over the rows of y.
#include "core/machine/gradient_ops.hpp"
#include "core/machine/operations/elements.hpp"

namespace tilescope {

namespace operation {
extern const Operation update_column_sum;
const Operation update_column_sum{.name = "update_column_sum",
                                  .kind = Kind::map,
                                  .access = Access::update,
                                  .price = {.flops = 1, .per = Price::Per::read},
                                  .operates = Operates::by_column,
                                  .effect = Effect::add_column_sum,
                                  .unit = "counted.additions"};
}  // namespace operation

void update_column_sum(Block& b, Tile& x, const Tile& y, Here here) {
    Apply::to(b, operation::update_column_sum, x, &y, here, [](Elements v, ConstElements w) {
        for (Index r = 0; r < w.rows; ++r) row(v, 0) += row(w, r);
    });
}

}  // namespace tilescope
