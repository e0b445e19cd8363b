// l_r += sum over the columns of s.
#include "core/machine/operations/elements.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation update_row_sum;
const Operation update_row_sum{.name = "update_row_sum",
                               .kind = Kind::reduce,
                               .access = Access::update,
                               .price = {.flops = 1, .per = Price::Per::read},
                               .operates = Operates::by_row,
                               .effect = Effect::add_row_sum,
                               .unit = "counted.additions"};
}  // namespace operation

void update_row_sum(Block& b, Tile& l, const Tile& s, Here here) {
    Apply::to(b, operation::update_row_sum, l, &s, here, [](Elements x, ConstElements y) {
        for (Index r = 0; r < x.rows; ++r) x.data[r] += row(y, r).sum();
    });
}

}  // namespace tilescope
