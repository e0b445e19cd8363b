// From flags to a run that can be shown.
#pragma once

#include "lab/flags/request.hpp"
#include "show/run.hpp"

namespace tilescope::show {

/// The inputs of a problem that has only the first heads of the request's.
InputsFor inputs_for_part(const Options& options, const Request& request, const Algorithm& algorithm);

/// The run, recorded as the window does: its steps have the same numbers. Tiles that do not fit are run up to the one
/// that does not.
Run make_run(const Experiment& experiment, const Options& options, const Request& request);

}  // namespace tilescope::show
