// The outputs of a program where the problem itself is only counted: of a small one of its kind, with the same tiles.
#pragma once

#include "cli/json.hpp"
#include "lab/flags/request.hpp"

namespace tilescope::cli {

/// The like of a problem, small enough for real numbers in passing.
Problem small_problem(Problem problem);

/// A run of it, and how far its outputs are from the reference. Throws Interrupted.
lab::Report run_small(const lab::Report& counted, const lab::Options& options, const lab::Request& request);

/// What it says, in JSON of the counted run.
void add_small(Json& report, const lab::Report& small, const lab::Request& request);

}  // namespace tilescope::cli
