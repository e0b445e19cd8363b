// x_rc = -inf where hidden(r, c). Free: a predicate on the operation that produced x.
#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation mask_where;
const Operation mask_where{
    .name = "mask_where", .kind = Kind::map, .access = Access::in_passing, .effect = Effect::hide_where};
}  // namespace operation

void mask_where(Block& b, Tile& x, const std::function<bool(Index row, Index col)>& hidden, Here here) {
    Apply::to(b, operation::mask_where, x, nullptr, here, [&](Elements v, ConstElements) {
        for (Index r = 0; r < v.rows; ++r)
            for (Index c = 0; c < v.cols; ++c)
                if (hidden(r, c)) v.data[r * v.cols + c] = -infinity;
    });
}

}  // namespace tilescope
