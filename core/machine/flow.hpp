// What a tile's numbers stand for, as it follows from operands; and the bytes on chip that reading or writing it costs.
#pragma once

#include "core/machine/chip_memory.hpp"

namespace tilescope {

// Sums without branches: the counters of one operation then stay in registers.
inline Bytes if_in(Space s, const TileInfo& t) { return t.space == s ? t.bytes() : 0; }
inline void charge_read(Counters& c, const TileInfo& t) {
    c.sram_read += if_in(Space::sram, t), c.register_read += if_in(Space::registers, t);
}
inline void charge_write(Counters& c, const TileInfo& t) {
    c.sram_write += if_in(Space::sram, t), c.register_write += if_in(Space::registers, t);
}

/// The origin of out += a b: the rows of a and the columns of b. Queries and keys give scores; scores and values give
/// output.
Origin origin_of_product(const Origin& a, bool a_transposed, const Origin& b, bool b_transposed, const Origin& out);

/// Brings the origins up to date after `operation` on `out` with the operand `a` (nullptr: none).
void flow(const Operation& operation, Origin& out, Origin* a);

}  // namespace tilescope
