// m_r = max over the columns of s.
#include "core/machine/operations/elements.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation row_max;
const Operation row_max{.name = "row_max",
                        .kind = Kind::reduce,
                        .price = {.flops = 1, .per = Price::Per::read_after_first},
                        .operates = Operates::by_row,
                        .effect = Effect::row_max,
                        .unit = "counted.comparisons"};
}  // namespace operation

void row_max(Block& b, Tile& m, const Tile& s, Here here) {
    Apply::to(b, operation::row_max, m, &s, here, [](Elements x, ConstElements y) {
        for (Index r = 0; r < x.rows; ++r) x.data[r] = row(y, r).maxCoeff();
    });
}

}  // namespace tilescope
