// l_r = sum over the columns of s.
#include "core/machine/operations/elements.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation row_sum;
const Operation row_sum{.name = "row_sum",
                        .kind = Kind::reduce,
                        .price = {.flops = 1, .per = Price::Per::read_after_first},
                        .operates = Operates::by_row,
                        .effect = Effect::row_sum,
                        .unit = "counted.additions"};
}  // namespace operation

void row_sum(Block& b, Tile& l, const Tile& s, Here here) {
    Apply::to(b, operation::row_sum, l, &s, here, [](Elements x, ConstElements y) {
        for (Index r = 0; r < x.rows; ++r) x.data[r] = row(y, r).sum();
    });
}

}  // namespace tilescope
