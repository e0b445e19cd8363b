// A kernel whose warps have roles, on one SM: its program's lanes, played.
#pragma once

#include <memory>
#include <vector>

#include "core/time/lanes.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// Whether the lanes of the experiment's kernel can be timed: a GPU with wgmma and bulk copies, and a 16-bit type.
bool has_timed_lanes(const Experiment& experiment);

/// The lanes of one SM while it works on row tiles of `steps` key tiles each.
struct PlayedLanes {
    std::vector<LaneProgram> programs;  ///< the producer, and each warpgroup
    LanePlay play;                      ///< with its phases
    std::shared_ptr<const void> names;  ///< keeps Act::what and LanePhase::what valid
};
/// Throws Stuck where lanes wait for each other for ever.
PlayedLanes played_lanes(const Experiment& experiment, Index steps);

}  // namespace tilescope::lab
