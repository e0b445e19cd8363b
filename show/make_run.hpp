// From flags to a run that can be shown.
#pragma once

#include "lab/flags/request.hpp"
#include "show/run.hpp"

namespace tilescope::show {

/// The inputs of a problem that has only the first heads of the request's.
InputsFor inputs_for_part(const lab::Options& options, const lab::Request& request, const Algorithm& algorithm);

/// The same GPU with room on chip for whatever a program makes. Not the same run where the program looks for room.
GpuSpec with_room(GpuSpec gpu);

/// The run, recorded as the window does: its steps have the same numbers. Tiles that do not fit are run up to the one
/// that does not.
Run make_run(const lab::Experiment& experiment, const lab::Options& options, const lab::Request& request);

}  // namespace tilescope::show
