// out_cr = in_rc.
#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation transpose;
const Operation transpose{
    .name = "transpose", .kind = Kind::map, .operates = Operates::transposed, .effect = Effect::transpose};
}  // namespace operation

void transpose(Block& b, Tile& out, const Tile& in, Here here) {
    Apply::to(b, operation::transpose, out, &in, here, [](Elements v, ConstElements w) {
        for (Index c = 0; c < v.rows; ++c)
            for (Index r = 0; r < v.cols; ++r) v.data[c * v.cols + r] = w.data[r * w.cols + c];
    });
}

}  // namespace tilescope
