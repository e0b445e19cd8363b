// out = in. Free: a register move.
#include "core/machine/operations/elements.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation copy;
const Operation copy{.name = "copy", .kind = Kind::map, .effect = Effect::copy};
}  // namespace operation

void copy(Block& b, Tile& out, const Tile& in, Here here) {
    Apply::to(b, operation::copy, out, &in, here, [](Elements x, ConstElements y) { all(x) = all(y); });
}

}  // namespace tilescope
