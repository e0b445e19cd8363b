// x_rc *= f_stairs(c).
#include <stdexcept>
#include <vector>

#include "core/machine/operations/elements.hpp"
#include "core/machine/score_ops.hpp"
#include "core/text/message.hpp"

namespace tilescope {

namespace operation {
extern const Operation scale_columns;
const Operation scale_columns{.name = "scale_columns",
                              .kind = Kind::map,
                              .access = Access::update,
                              .price = {.flops = 1},
                              .operates = Operates::by_columns,
                              .effect = Effect::scale_columns,
                              .unit = "counted.multiplications"};
}  // namespace operation

void scale_columns(Block& b, Tile& x, const Tile& f, Stairs stairs, Here here) {
    if (x.cols() > 0 && stairs(x.cols() - 1) >= f.cols())
        throw std::logic_error(text::message("block.shapes_do_not_match", operation::scale_columns.name));
    Apply::to(b, operation::scale_columns, x, &f, here, [=](Elements v, ConstElements w) {
        std::vector<float> factors(static_cast<std::size_t>(v.cols));
        for (Index c = 0; c < v.cols; ++c) factors[static_cast<std::size_t>(c)] = w.data[stairs(c)];
        for (Index r = 0; r < v.rows; ++r) row(v, r) *= ConstArray(factors.data(), v.cols);
    });
}

}  // namespace tilescope
