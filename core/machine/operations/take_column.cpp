// out_r = in_rc for one column c. Free: a register move.
#include <stdexcept>

#include "core/machine/operations/elements.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation take_column;
const Operation take_column{
    .name = "take_column", .kind = Kind::map, .operates = Operates::a_column, .effect = Effect::take_column};
}  // namespace operation

void take_column(Block& b, Tile& out, const Tile& in, Index column, Here here) {
    if (column < 0 || column >= in.cols()) throw std::logic_error("take_column: the tile has no such column");
    Apply::to(b, operation::take_column, out, &in, here, [column](Elements x, ConstElements y) {
        for (Index r = 0; r < x.rows; ++r) x.data[r] = row(y, r)[column];
    });
}

}  // namespace tilescope
