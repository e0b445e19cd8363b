// From flags to a run that can be shown.
#pragma once

#include "lab/flags/request.hpp"
#include "show/run/run.hpp"

namespace tilescope::show {

/// The run, recorded as the window records it, so that its steps have the same numbers. Where a tile does not fit, the
/// recording ends before it. Throws Interrupted.
Run make_run(const lab::Experiment& experiment, const lab::Options& options, const lab::Request& request,
             Control* control = nullptr);

}  // namespace tilescope::show
