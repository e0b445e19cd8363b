// From flags to a run that can be shown.
#pragma once

#include "lab/flags/request.hpp"
#include "show/run/run.hpp"

namespace tilescope::show {

/// The inputs of a problem that has only the first heads, or rows, of the request's.
InputsFor inputs_for_part(const lab::Options& options, const lab::Request& request, const Algorithm& algorithm);

/// The run, recorded as the window records it, so that its steps have the same numbers. Where a tile does not fit, the
/// recording ends before it. Throws Interrupted.
Run make_run(const lab::Experiment& experiment, const lab::Options& options, const lab::Request& request,
             Control* control = nullptr);

}  // namespace tilescope::show
