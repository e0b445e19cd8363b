// Why a kernel takes longer than the model says: what its counters say of thread blocks on an SM, DRAM, bank
// conflicts and clocks, and what each of these costs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device/ncu.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::device {

struct TimeCause {
    const char* name;   ///< in JSON: "thread blocks on an SM"
    const char* title;  ///< the message that names it
    std::string words;  ///< "1 measured, 2 modelled"
    double us;          ///< that this cause alone adds, modelled; causes overlap, so a sum of them means nothing
};

/// The causes that the counters show, in the order above, without those that are not counted. `runs`: how many runs the
/// launches are of. The report must have a time.
std::vector<TimeCause> time_causes(const lab::Report& report, std::span<const NcuLaunch> launches, Index runs);

}  // namespace tilescope::device
