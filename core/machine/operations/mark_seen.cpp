// x = 1 where x > -inf, else 0.
#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation mark_seen;
const Operation mark_seen{.name = "mark_seen",
                          .kind = Kind::map,
                          .access = Access::update,
                          .price = {.flops = 1},
                          .effect = Effect::mark_seen,
                          .unit = "counted.comparisons"};
}  // namespace operation

void mark_seen(Block& b, Tile& x, Here here) {
    Apply::to(b, operation::mark_seen, x, nullptr, here,
              [](Elements v, ConstElements) { all(v) = (all(v) != -infinity).cast<float>(); });
}

}  // namespace tilescope
