// The tiles that a kernel was compiled for, where the program's own tiles are cut to a short problem.
#pragma once

#include "lab/run/experiment.hpp"

namespace tilescope::lab {

struct FullTiles {
    Experiment experiment;                         ///< with the full tiles
    std::optional<Report> counted = std::nullopt;  ///< for a problem with such tiles; nothing where none was cut
};

/// The tiles of the kernel whose time is modelled. A kernel has the rows, registers and shared memory of its full tile,
/// however short the sequence is. So where one tile covers a whole axis, the released kernel's size is taken if it is
/// larger; Br is then halved, down to the rows of an mma, until all fits. Thus all tiles of a short problem are timed
/// alike. The given tiles stay where the kernel has others for few rows, where no full one fits, and for a user's own
/// program.
Tiling kernel_tiles(const Experiment& experiment);

/// The same, with the count of a problem that has such tiles.
FullTiles full_tiles(const Experiment& experiment);

}  // namespace tilescope::lab
