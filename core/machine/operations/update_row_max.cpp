// m_r = max(m_r, max over the columns of s).
#include "core/machine/operations/elements.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation update_row_max;
const Operation update_row_max{.name = "update_row_max",
                               .kind = Kind::reduce,
                               .access = Access::update,
                               .price = {.flops = 1, .per = Price::Per::read},
                               .operates = Operates::by_row,
                               .effect = Effect::max_row_max,
                               .unit = "counted.comparisons"};
}  // namespace operation

void update_row_max(Block& b, Tile& m, const Tile& s, Here here) {
    Apply::to(b, operation::update_row_max, m, &s, here, [](Elements x, ConstElements y) {
        for (Index r = 0; r < x.rows; ++r) x.data[r] = std::max(x.data[r], row(y, r).maxCoeff());
    });
}

}  // namespace tilescope
