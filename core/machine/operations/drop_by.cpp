// x_rc *= factor where m_rc is 1, else 0.
#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation drop_by;
const Operation drop_by{.name = "drop_by",
                        .kind = Kind::map,
                        .access = Access::update,
                        .price = {.flops = 1},
                        .effect = Effect::drop,
                        .unit = "counted.multiplications"};
}  // namespace operation

void drop_by(Block& b, Tile& x, const Tile& m, float factor, Here here) {
    Apply::to(b, operation::drop_by, x, &m, here,
              [=](Elements v, ConstElements w) { all(v) = (all(w) > 0).select(factor * all(v), 0.0f); });
}

}  // namespace tilescope
