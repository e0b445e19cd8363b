// The modelled GPU that flags ask for.
#pragma once

#include "core/machine/gpu_spec.hpp"
#include "lab/flags/options.hpp"

namespace tilescope::lab {

/// A preset or a file, changed by the flags of the machine. Throws UsageError.
GpuSpec gpu_from(const Options& options);

}  // namespace tilescope::lab
