// What a run's errors mean: in words, and whether its program computes something else.
#pragma once

#include <string>
#include <vector>

#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// Whether an error is too large to be rounding, where values reach up to `largest`.
bool beyond_rounding(double max_abs, double largest);

/// "max 1.2e-04, rms 1.4e-05", or how many elements of the output `name` are not finite, and why.
std::string describe_error(const Report& report, const std::string& name, const OutputError& error);

/// The outputs of a user's own algorithm that seem to be wrong. Empty for the built-in algorithms, which are tested:
/// where they give NaN, the problem does.
std::vector<std::string> wrong_outputs(const Report& report);
/// "mine: O is wrong: max 2.7, ...": a line for each wrong output, without its full stop.
std::vector<std::string> about_wrong_outputs(const Report& report);
/// "mine computes a wrong O"; empty where nothing is wrong.
std::string wrong_in_short(const Report& report);
/// To be called once all results are printed: throws RunError with the texts of wrong_in_short() that are not empty.
void fail_where_wrong(const std::vector<std::string>& in_short);

}  // namespace tilescope::lab
