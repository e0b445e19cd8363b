// x_rc += y_rc, or y_c where y is a single row.
#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation add_bias;
const Operation add_bias{.name = "add_bias",
                         .kind = Kind::map,
                         .access = Access::update,
                         .price = {.flops = 1},
                         .operates = Operates::by_element_or_column,
                         .effect = Effect::add,
                         .unit = "counted.additions"};
}  // namespace operation

void add_bias(Block& b, Tile& x, const Tile& y, Here here) {
    Apply::to(b, operation::add_bias, x, &y, here, [](Elements v, ConstElements w) {
        if (w.rows == v.rows) return void(all(v) += all(w));
        for (Index r = 0; r < v.rows; ++r) row(v, r) += row(w, 0);
    });
}

}  // namespace tilescope
