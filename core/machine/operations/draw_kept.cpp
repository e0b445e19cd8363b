// m_rc = 1 where an element is kept, else 0. Free: whole numbers only.
#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation draw_kept;
const Operation draw_kept{
    .name = "draw_kept", .kind = Kind::map, .price = {.integers = integers_of_drawing}, .effect = Effect::draw};
}  // namespace operation

void draw_kept(Block& b, Tile& m, const Dropping& d, Here here) {
    Apply::to(b, operation::draw_kept, m, nullptr, here, [&](Elements v, ConstElements) {
        for (Index r = 0; r < v.rows; ++r) d.of_row(r, v.cols, v.data + r * v.cols);
    });
}

}  // namespace tilescope
