// How long a thread block with lanes takes for a tile (a work item), as a law of the tile's steps.
#pragma once

#include <string>
#include <vector>

#include "core/time/lane_programs.hpp"

namespace tilescope {

/// A tile of n steps takes `fixed` + n `step` cycles in a thread block that computes one tile after the other. The
/// first tile takes `first` + n `step` cycles, because nothing of it was loaded ahead. Where a thread block ends with
/// its tile, nothing of a next one delays the first tile either.
struct TileLaw {
    double fixed = 0, step = 0, first = 0;
    LaneBusy busy;  ///< cycles per step

    /// How long a lane waits per step.
    struct Wait {
        std::string lane;
        Awaited awaited;
        std::string what;  ///< the tile, where it waits for one
        double cycles;
    };
    std::vector<Wait> waits;  ///< the longest first

    double tile(double steps) const { return fixed + steps * step; }
    double first_tile(double steps) const { return first + steps * step; }
    /// A tile in a kernel whose thread blocks end with their tiles. The loads of a block's start are hidden only under
    /// other blocks' work. Launching and ending a block comes on top.
    double own_tile(double steps, const LanedKernel& kernel) const {
        return kernel.persistent || kernel.blocks > 1 ? tile(steps) : first_tile(steps);
    }
};

/// How many tiles a thread block has to compute for a law. The law is that of tiles 3 to 5, and of tile 1.
inline constexpr Index tiles_of_law = 5;

/// A tile of as many steps as were run, without a law: a short one does not settle within its steps.
struct TileCycles {
    double tile = 0, first = 0;  ///< among others; of a thread block that begins with it
};
TileCycles cycles_of_tile(const LanePrograms& lanes);

/// From runs of the same kernel with a tile of so many steps, of `tiles_of_law` tiles. Throws Stuck.
TileLaw law_of(const LanePrograms& shorter, Index steps, const LanePrograms& longer, Index more_steps);

}  // namespace tilescope
