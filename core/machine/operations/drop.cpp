// x_rc *= factor where x_rc is kept, else 0. Which elements are kept is drawn again, from r and c.
#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation drop;
const Operation drop{.name = "drop",
                     .kind = Kind::map,
                     .access = Access::update,
                     .price = {.flops = 1, .integers = integers_of_drawing},
                     .effect = Effect::drop,
                     .unit = "counted.multiplications"};
}  // namespace operation

void drop(Block& b, Tile& x, const Dropping& d, Here here) {
    Apply::to(b, operation::drop, x, nullptr, here, [&](Elements v, ConstElements) {
        std::vector<float> keep(static_cast<std::size_t>(v.cols));
        for (Index r = 0; r < v.rows; ++r) {
            d.of_row(r, v.cols, keep.data());
            row(v, r) = (ConstArray(keep.data(), v.cols) > 0).select(d.factor * row(v, r), 0.0f);
        }
    });
}

}  // namespace tilescope
