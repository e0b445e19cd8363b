// Microbenchmarks of what compute capability 9.0 alone has.
#pragma once

#include "device/bench.cuh"
#include "device/microbenchmarks.hpp"

namespace tilescope::device {

/// As measure(), from first_of_hopper on.
Reading measure_on_hopper(Benchmark what, Bench& bench);

}  // namespace tilescope::device
