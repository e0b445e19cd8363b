// What a kernel is beyond its tile program: data, without durations.
#pragma once

#include <span>

#include "core/time/rates.hpp"

namespace tilescope {

/// Tiles, by name, that use one place in shared memory in turn: a load waits until the tile before is no longer needed.
struct SharedPlace {
    std::array<const char*, 3> tiles;
};

/// How a kernel that is built of tiled matrix products (CUTLASS) runs them on tensor cores; zeros: it is not built so.
struct TiledProducts {
    Index warp = 0;         ///< a warp's part of a result: so many rows and columns
    Index piece = 0;        ///< operands come in pieces of so many terms of the sum, with a barrier after each
    Index warps_on_sm = 0;  ///< it is compiled to take no more registers than so many warps can have
    double rate = 1;        ///< of its instruction, relative to mma.sync m16n8k16
};

struct Kernel {
    Style style = Style::cuda_cores;
    Index warps = 4;           ///< of a thread block
    bool own_keys = false;     ///< each warp owns keys, not rows: in every step warps add up their sums over keys
    bool own_softmax = false;  ///< each warp owns keys, and keeps its own m, l and O until the block ends
    Index rows = 0;            ///< rows that all warps of a full thread block own; 0: as many as an operation covers
    double owning = 1;         ///< share of the warps that own rows, where no thread block of the launch is a full one
    std::span<const SharedPlace> places = {};
    Index together = 1;  ///< iterations whose loads into registers are issued together, before the first is used
    TiledProducts tiled = {};
    bool looks_up = false;  ///< where a mask crosses a tile, threads look up for each score whether it is hidden
};

/// How a thread block compares with a full one of its launch.
struct Cut {
    Index rows = 0;     ///< of the block's tile on the grid's second axis; 0: there is no such axis
    Index full = 0;     ///< of a full tile of that axis or, without the axis, of a loop
    Index at_once = 0;  ///< the largest rows_at_once() of its passages; without that axis, at least `full`
};

}  // namespace tilescope
