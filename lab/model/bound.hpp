// What a launch waits for, from what its units do.
#pragma once

#include "lab/model/timed_launch.hpp"
#include "lab/run/run_time.hpp"

namespace tilescope::lab {

/// Sets in `time` the step where most time is spent, the share of the time in which each unit works, and the bound.
/// `cycles`: of the launch on `sms` SMs, without the `launching_us` before its first thread block starts.
void set_bound(LaunchTime& time, const TimedLaunch& launch, double cycles, Index sms, double launching_us);

/// The bound of a launch that waits for `unit`, and the unit of such a bound (Bound::tensor to Bound::dram).
Bound bound_by(Unit unit);
Unit unit_of(Bound bound);

}  // namespace tilescope::lab
