// From flags to a run that can be shown.
#pragma once

#include "lab/flags/request.hpp"
#include "show/run/run.hpp"

namespace tilescope::show {

/// Makes the run, recorded as in the window, so that its steps have the same numbers as there. Where a tile does not
/// fit on chip, the recording ends before the operation that makes the tile. Throws Interrupted.
Run make_run(const lab::Experiment& experiment, const lab::Options& options, const lab::Request& request,
             Control* control = nullptr);

}  // namespace tilescope::show
