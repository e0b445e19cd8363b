// x_rc = -inf where c < stairs(r) + diagonal. Free: a predicate on the operation that produced x.
#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation mask_below_diagonal;
const Operation mask_below_diagonal{
    .name = "mask_below_diagonal", .kind = Kind::map, .access = Access::in_passing, .effect = Effect::hide_below};
}  // namespace operation

void mask_below_diagonal(Block& b, Tile& x, Index diagonal, Stairs stairs, Here here) {
    Apply::to(b, operation::mask_below_diagonal, x, nullptr, here, [=](Elements v, ConstElements) {
        for (Index r = 0; r < v.rows; ++r)
            std::fill_n(v.data + r * v.cols, std::clamp<Index>(stairs(r) + diagonal, 0, v.cols), -infinity);
    });
}

}  // namespace tilescope
