// x_rc stays where f_r is not 0, and becomes 0 elsewhere.
#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation keep_rows;
const Operation keep_rows{.name = "keep_rows",
                          .kind = Kind::map,
                          .access = Access::update,
                          .price = {.flops = 1},
                          .operates = Operates::by_row,
                          .effect = Effect::keep_rows,
                          .unit = "counted.comparisons"};
}  // namespace operation

void keep_rows(Block& b, Tile& x, const Tile& f, Here here) {
    Apply::to(b, operation::keep_rows, x, &f, here, [](Elements v, ConstElements seen) {
        for (Index r = 0; r < v.rows; ++r)
            if (seen.data[r] == 0) row(v, r).setZero();
    });
}

}  // namespace tilescope
