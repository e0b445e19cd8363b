// x_rc = 0 in some rows, so that all their columns weigh the same. Free: a predicate on the operation that produced x.
#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation level_rows;
const Operation level_rows{
    .name = "level_rows", .kind = Kind::map, .access = Access::in_passing, .effect = Effect::level_rows};
}  // namespace operation

void level_rows(Block& b, Tile& x, const std::function<bool(Index row)>& level, Here here) {
    Apply::to(b, operation::level_rows, x, nullptr, here, [&](Elements v, ConstElements) {
        for (Index r = 0; r < v.rows; ++r)
            if (level(r)) std::fill_n(v.data + r * v.cols, v.cols, 0.0F);
    });
}

}  // namespace tilescope
