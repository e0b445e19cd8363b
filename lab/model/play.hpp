// A launch's thread blocks, played on the SMs of a GPU, wave after wave.
#pragma once

#include <vector>

#include "lab/model/played_launch.hpp"
#include "lab/model/timed_launch.hpp"

namespace tilescope::lab {

/// Which free slots a kernel of this style fills first.
Refill refill_of(Style style);

/// How a launch is played.
struct Playing {
    const std::vector<Axis>& axes;
    Order order;
    Index heads_in_l2;
    bool dealt;        ///< to persistent thread blocks beforehand
    Index paired;      ///< thread blocks of a cluster, where these are dealt pairs; else 0
    Index sms, slots;  ///< thread blocks that an SM holds
    Style style;
    double sharing;  ///< SMs that share L2 and DRAM at first
};

/// Plays a launch of `t.blocks` thread blocks and returns its cycles. Sets resident blocks, tail and imbalance in `t`.
/// `kept`, where it is not null, gets the stays of all thread blocks.
double play(const TimedLaunch& launch, const Playing& playing, LaunchTime& t, PlayedLaunch* kept);

}  // namespace tilescope::lab
