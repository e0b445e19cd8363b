// m += log l. 1 logarithm and 1 addition an element, both counted as other FLOPs.
#include <cmath>

#include "core/machine/operations/elements.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

namespace operation {
extern const Operation add_log;
const Operation add_log{.name = "add_log",
                        .kind = Kind::map,
                        .access = Access::update,
                        .price = {.flops = 2},
                        .effect = Effect::add_log,
                        .unit = "counted.flops"};
}  // namespace operation

void add_log(Block& b, Tile& m, const Tile& l, Here here) {
    Apply::to(b, operation::add_log, m, &l, here,
              [](Elements v, ConstElements w) { all(v) += all(w).unaryExpr([](float x) { return std::log(x); }); });
}

}  // namespace tilescope
