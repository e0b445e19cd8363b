// What a kernel is beyond its tile program: data, without durations.
#pragma once

#include <span>

#include "core/time/rates.hpp"

namespace tilescope {

/// Tiles in shared memory that take turns in one place, by name: a load has to wait until the one before is done with.
struct SharedPlace {
    std::array<const char*, 3> tiles;
};

/// How a kernel that is built of tiled matrix products (CUTLASS's) has them on tensor cores; zeros: it is none.
struct TiledProducts {
    Index warp = 0;         ///< a warp's part of a result: so many rows and columns
    Index piece = 0;        ///< operands come in pieces of the sum, with a barrier after each
    Index warps_on_sm = 0;  ///< for which it is compiled to have the registers
    double rate = 1;        ///< at which its instruction goes, of mma.sync m16n8k16's
};

struct Kernel {
    Style style = Style::cuda_cores;
    Index warps = 4;        ///< of a thread block
    bool own_keys = false;  ///< warps own keys each, and not rows: what they sum over these they add up in every step
    bool own_softmax = false;  ///< warps own keys each, and keep an m, l and O of their own for as long as the block
    Index rows = 0;            ///< that they own together, in a full thread block; 0: as many as an operation covers
    double owning = 1;         ///< share of the warps that own rows, where no thread block of the launch is a full one
    std::span<const SharedPlace> places = {};
    Index together = 1;  ///< turns of a loop whose loads into registers are asked for at once, before the first is used
    TiledProducts tiled = {};
    bool looks_up = false;  ///< whether a mask hides a score is looked up, one by one, where it crosses a tile
};

/// A thread block beside a full one of its launch.
struct Cut {
    Index rows = 0;     ///< of its tile of the grid; 0: the launch has no such tiles
    Index full = 0;     ///< of a full one, or of a loop's
    Index at_once = 0;  ///< rows_at_once() of its passage that has most
};

}  // namespace tilescope
