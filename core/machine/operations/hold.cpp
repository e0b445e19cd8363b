// x = a where x is at most `slack` above a.
#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation hold;
const Operation hold{.name = "hold",
                     .kind = Kind::map,
                     .access = Access::update,
                     .price = {.flops = 2},
                     .effect = Effect::hold,
                     .unit = "counted.subtractions_and_comparisons"};
}  // namespace operation

void hold(Block& b, Tile& x, const Tile& a, float slack, Here here) {
    Apply::to(b, operation::hold, x, &a, here, [=](Elements v, ConstElements w) {
        all(v) = (all(v) - all(w) <= slack).select(all(w), all(v));  // -inf in w keeps v
    });
}

}  // namespace tilescope
