// Thread blocks that have an SM each: when they start and end is known beforehand, so they are played by the run.
#pragma once

#include "core/time/timeline.hpp"

namespace tilescope {

/// Ends whose difference is a rounding error are one instant: so much, relative to the time.
inline constexpr double same_instant = 1e-9;

/// The same as play() with one slot an SM and without `among`, but without the stays. SMs that start equal thread
/// blocks at the same instant end them together, so they are played as one.
Timeline play_lone(const Grid& grid, Index sms);

}  // namespace tilescope
