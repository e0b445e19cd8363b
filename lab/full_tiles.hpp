// The tiles that a kernel was compiled for, where a short problem has cut those of its program.
#pragma once

#include "lab/experiment.hpp"

namespace tilescope::lab {

struct FullTiles {
    Experiment experiment;                         ///< with the full tiles
    std::optional<Report> counted = std::nullopt;  ///< of a problem that has such tiles; nothing where none was cut
};

/// A kernel has the registers and the shared memory of its full tile, however short the sequence is. Tiles are those of
/// the released kernel if the problem's end has cut them to the given ones; and stay as they are if a full one does not
/// fit, or if the kernel has others for few rows.
FullTiles full_tiles(const Experiment& experiment);

}  // namespace tilescope::lab
