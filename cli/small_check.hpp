// Checks outputs where the problem is only counted: runs a small problem of its kind, with the same tiles.
#pragma once

#include "cli/json.hpp"
#include "lab/flags/request.hpp"

namespace tilescope::cli {

/// A problem of the same kind, small enough for a quick run with real numbers.
Problem small_problem(Problem problem);

/// A run of the small problem, and how far its outputs are from the reference. Throws Interrupted.
lab::Report run_small(const lab::Report& counted, const lab::Options& options, const lab::Request& request);

/// Adds the results of the small run to the JSON of the counted run.
void add_small(Json& report, const lab::Report& small, const lab::Request& request);

}  // namespace tilescope::cli
