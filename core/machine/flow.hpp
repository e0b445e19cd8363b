// What follows for a tile's numbers from what they are made of, and what moving tiles costs on chip.
#pragma once

#include "core/machine/chip_memory.hpp"

namespace tilescope {

inline Bytes& read_bytes(Counters& c, Space s) { return s == Space::sram ? c.sram_read : c.register_read; }
inline Bytes& write_bytes(Counters& c, Space s) { return s == Space::sram ? c.sram_write : c.register_write; }
inline void charge_read(Counters& c, const TileInfo& t) { read_bytes(c, t.space) += t.bytes(); }
inline void charge_write(Counters& c, const TileInfo& t) { write_bytes(c, t.space) += t.bytes(); }

/// The origin of out += a b: the rows of a and the columns of b, scores of queries and keys, output of scores and
/// values.
Origin origin_of_product(const Origin& a, bool a_transposed, const Origin& b, bool b_transposed, const Origin& out);

/// Brings the origins up to date after `operation` on `out` with the operand `a` (nullptr: none).
void flow(const Operation& operation, Origin& out, Origin* a);

}  // namespace tilescope
