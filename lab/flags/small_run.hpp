// Parts of a problem: their inputs, and a run of a small part, which checks outputs where the problem is only counted.
#pragma once

#include <functional>

#include "lab/flags/request.hpp"

namespace tilescope::lab {

/// A function that makes the inputs of a part of the request's problem: of its first heads, queries and keys.
std::function<Inputs(const Problem& part)> inputs_for_part(const Options& options, const Request& request,
                                                           const Algorithm& algorithm);

/// A problem of the same kind, small enough for a quick run with real numbers.
Problem small_problem(Problem problem);

/// A run of the small problem with the same tiles, and how far its outputs are from the reference. Throws Interrupted.
Report run_small(const Report& counted, const Options& options, const Request& request, Control* control);

}  // namespace tilescope::lab
