// The tiles that a kernel was compiled for, where the program's own tiles are cut to a short problem.
#pragma once

#include "lab/run/experiment.hpp"

namespace tilescope::lab {

struct FullTiles {
    Experiment experiment;                         ///< with the full tiles
    std::optional<Report> counted = std::nullopt;  ///< of a problem with full tiles; nullopt where no tile was cut
};

/// The tiles of the kernel whose time is modelled. A kernel has the rows, registers and shared memory of its full tile,
/// however short the sequence is. So where one tile covers a whole axis, the released kernel's size is taken if it is
/// larger; Br is then halved, down to the rows of an mma, until all fits. Thus all tiles of a short problem are timed
/// alike. The given tiles stay where the kernel has others for few rows, where no full one fits, and for a user's own
/// program.
Tiling kernel_tiles(const Experiment& experiment);

/// The experiment with kernel_tiles(), and the counts of a problem that is large enough for them.
FullTiles full_tiles(const Experiment& experiment);

}  // namespace tilescope::lab
