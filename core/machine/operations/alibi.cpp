// x_rc -= slope |stairs(r) + diagonal - c|.
#include <cstdlib>

#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation alibi;
const Operation alibi{.name = "alibi",
                      .kind = Kind::map,
                      .access = Access::update,
                      .price = {.flops = 2},
                      .effect = Effect::subtract_distance,
                      .unit = "counted.operations"};
}  // namespace operation

void alibi(Block& b, Tile& x, std::span<const float> slopes, Index diagonal, Stairs stairs, Here here) {
    Apply::to(b, operation::alibi, x, nullptr, here, [=](Elements v, ConstElements) {
        for (Index r = 0; r < v.rows; ++r) {
            const float slope = slopes[static_cast<std::size_t>(stairs.within(r))];
            for (Index c = 0; c < v.cols; ++c)
                v.data[r * v.cols + c] -= slope * static_cast<float>(std::abs(stairs(r) + diagonal - c));
        }
    });
}

}  // namespace tilescope
