// What a kernel with lanes is beyond its tile program: data, without durations.
#pragma once

#include "core/machine/units.hpp"

namespace tilescope {

/// Where a thread block's result lies in shared memory while it is stored.
enum class OutputPlace : std::uint8_t {
    own,    ///< in a place of its own
    query,  ///< in the place of the tiles that a thread block loads once, which the next tile's loads wait for
    ring    ///< in slots of a ring: the next tile's first load into a ring waits
};

/// A persistent thread block computes one tile (a work item) after the other.
struct LanedKernel {
    OutputPlace output = OutputPlace::own;
    Index pieces = 1;    ///< slots that a tile takes in a ring: its load, and a product that reads it, come in as many
    Index slots = 0;     ///< of each ring, in pieces; 0: as many as the program's ring has tiles, times `pieces`
    double sigma = 1.1;  ///< ratio of the cycles of compiled work to those of its instructions (one warp a sub-core)
    double unfused = 0;  ///< full-rate instructions per exponential besides those of the tile program's operations
    double maxima = 1;   ///< numbers that an instruction of a row's maximum takes in: 2 for maxima of three
    bool rounds_late = false;  ///< a copy into a narrower type waits for products that may still read the last one
    Index batons = 1;          ///< turns that lanes hand on: 2: one for a step's first product, one for its others
    double store = 0;          ///< cycles until a warpgroup's stores are issued; 0: as shared memory takes the bytes
    double stored = 0;         ///< further cycles until their place is free again; 0: as long as the stores take
    double ragged = 0;         ///< cycles that each step takes longer where the last step's tile is cut
    Index blocks = 1;          ///< thread blocks that share an SM
    bool persistent = true;    ///< false: a thread block ends with its tile
    double misses = 0;         ///< share of the bytes that it asks for that L2 lacks
    Index cluster = 1;         ///< SMs that a tile of a ring comes to at once: each loads its part for all
};

}  // namespace tilescope
