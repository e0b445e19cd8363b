// The refusal when a tile does not fit on chip.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "core/machine/place.hpp"
#include "core/machine/tile.hpp"

namespace tilescope {

struct LiveTile {
    std::string name;
    Index rows, cols;
    Dtype dtype;
    Bytes bytes;
};

/// A tile did not fit. A result to show: says what lives in the space, how much more is needed, and where it happened.
struct OutOfChipMemory : std::runtime_error, Placed {
    OutOfChipMemory(Space space, LiveTile wanted, Bytes used, Bytes capacity, std::uint16_t line,
                    std::vector<LiveTile> live, const std::string& whose = "");

    Bytes missing() const { return used + wanted.bytes - capacity; }

    Space space;
    LiveTile wanted;
    Bytes used, capacity;
    std::uint16_t line;
    std::vector<LiveTile> live;
    std::string whose;  ///< the lane whose registers are full; empty: the thread block's space is full
};

}  // namespace tilescope
