// The tiles that a kernel was compiled for, where a short problem has cut those of its program.
#pragma once

#include "lab/experiment.hpp"

namespace tilescope::lab {

struct FullTiles {
    Experiment experiment;                         ///< with the full tiles
    std::optional<Report> counted = std::nullopt;  ///< of a problem that has such tiles; nothing where none was cut
};

/// The tiles of the kernel that a time is of. A kernel has the rows, the registers and the shared memory of its full
/// tile, however short the sequence is: an axis on which a tile has all that there is has the released kernel's size,
/// where that is more; the rows are halved, down to those of an mma, until all fits. So all tiles of a short problem
/// are timed on the same ground. They are the given ones where the kernel has others for few rows, where no full one
/// fits, and of a program of one's own.
Tiling kernel_tiles(const Experiment& experiment);

/// The same, with the count of a problem that has such tiles.
FullTiles full_tiles(const Experiment& experiment);

}  // namespace tilescope::lab
