#include "core/machine/operations/of_block.hpp"

namespace tilescope::operation {

const Operation load{.name = "load", .kind = Kind::load, .effect = Effect::load};
const Operation store{.name = "store", .kind = Kind::store, .effect = Effect::store};
const Operation reduce_add{.name = "reduce_add", .kind = Kind::store, .effect = Effect::store_sum};
const Operation alloc{.name = "alloc", .kind = Kind::alloc, .effect = Effect::make};
const Operation release{.name = "release", .kind = Kind::release, .effect = Effect::free};
const Operation matmul{.name = "matmul",
                       .kind = Kind::product,
                       .access = Access::update,
                       .effect = Effect::product,
                       .unit = "counted.flops"};

const Operation launch{.name = "launch", .kind = Kind::launch};
const Operation block_begin{.name = "block_begin", .kind = Kind::block_begin};
const Operation block_end{.name = "block_end", .kind = Kind::block_end};

}  // namespace tilescope::operation
