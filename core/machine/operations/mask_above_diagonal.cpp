// x_rc = -inf where c > stairs(r) + diagonal. Free: a predicate on the operation that produced x.
#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation mask_above_diagonal;
const Operation mask_above_diagonal{
    .name = "mask_above_diagonal", .kind = Kind::map, .access = Access::in_passing, .effect = Effect::hide_above};
}  // namespace operation

void mask_above_diagonal(Block& b, Tile& x, Index diagonal, Stairs stairs, Here here) {
    Apply::to(b, operation::mask_above_diagonal, x, nullptr, here, [=](Elements v, ConstElements) {
        for (Index r = 0; r < v.rows; ++r)
            for (Index c = std::clamp<Index>(stairs(r) + diagonal + 1, 0, v.cols); c < v.cols; ++c)
                v.data[r * v.cols + c] = -infinity;
    });
}

}  // namespace tilescope
