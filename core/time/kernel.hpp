// What a kernel is beyond its tile program: data, without durations.
#pragma once

#include <span>

#include "core/time/rates.hpp"

namespace tilescope {

/// Tiles in shared memory that take turns in one place, by name: a load has to wait until the one before is done with.
struct SharedPlace {
    std::array<const char*, 3> tiles;
};

struct Kernel {
    Style style = Style::cuda_cores;
    Index warps = 4;        ///< of a thread block
    bool own_keys = false;  ///< warps own keys each, and not rows: what they sum over these they add up in every step
    bool own_softmax = false;  ///< warps own keys each, and keep an m, l and O of their own for as long as the block
    Index rows = 0;            ///< that they own together, of a full tile; 0: as many as there are
    Index most = 0;            ///< rows that a thread block of this launch has, where none has a full tile; 0: all
    std::span<const SharedPlace> places = {};
    Index together = 1;  ///< turns of a loop whose loads into registers are asked for at once, before the first is used
};

}  // namespace tilescope
