// A kernel whose warps have roles, on one SM: its program's lanes, played in cycles.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/time/lanes.hpp"
#include "core/time/step.hpp"
#include "core/time/tile_law.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// Whether the lanes of the experiment's kernel can be timed: on a GPU with wgmma and bulk copies, where Q, K and V
/// have 16 bits, or all of them 8.
bool has_timed_lanes(const Experiment& experiment);
/// Why the experiment has no time where its kernel would run on lanes; empty where it has one.
std::string untimed(const Experiment& experiment);

/// The tiling with all roles of warps filled in, where the kernel has any.
Tiling with_roles(const Experiment& experiment);

/// What a row tile meets outside of its SM.
struct Outside {
    double missed = 0;  ///< share of the bytes asked for that the L2 lacks
    double dram = 0;    ///< bytes per cycle of DRAM, for one SM while all ask; unused where nothing is missed
    Index sharing = 1;  ///< thread blocks that ask for the same tiles of K and V in step
};

/// The laws of a row tile, by the number of thread blocks that share the SM: the first is for one alone. Laws are kept:
/// a second call for the same tile looks them up. Refers to the experiment. Throws Stuck where lanes wait for each
/// other for ever.
struct LanedTimes {
    std::vector<TileLaw> laws;
    LanedKernel kernel;
    /// Cycles of a row tile of so few steps that the law does not hold: played when first asked for.
    std::function<double(Index steps)> few = {};
    double longer = 1, more = 0;  ///< factor on a step under a mask; cycles that a cut key tile adds to a step

    /// A step of the loop over key tiles.
    StepTime step() const;
    /// Cycles of a row tile beside those of its steps.
    double fixed(double steps) const;
    /// Cycles of a launch before the first tile's law holds.
    double start() const;
};
/// How many thread blocks ask for the same tiles of K and V in step. Under a mask they do not keep step.
Index sharing_of(const Experiment& experiment);
/// The clock, in MHz, while tensor cores work for this share of a step, in a kernel that takes so many cycles and runs
/// again and again: the median of 15 launches after 3; and the same once power limits the clock.
struct Clock {
    double mhz, sustained;
};
Clock clock_beside(double tensor_share, double cycles, const GpuSpec& gpu);
LanedTimes laned_times(const Experiment& experiment, Index blocks_on_sm, const Outside& outside = {});

/// The lanes of one SM while it works on `tiles` row tiles of `steps` key tiles each.
struct PlayedLanes {
    std::vector<LaneProgram> programs;  ///< the producer, and each warpgroup
    LanePlay play;                      ///< with its phases
    std::shared_ptr<const void> names;  ///< keeps Act::what and LanePhase::what valid
};
PlayedLanes played_lanes(const Experiment& experiment, Index steps, Index tiles = 1);

/// Refuses knobs with which lanes would wait for each other for ever: UsageError says who waits for whom.
void check_lanes_go_on(const Experiment& experiment);

}  // namespace tilescope::lab
