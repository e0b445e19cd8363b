// What errors say of a run: in words, and whether the program computes something else.
#pragma once

#include <string>
#include <vector>

#include "lab/experiment.hpp"

namespace tilescope::lab {

/// Whether rounding does not explain an error, beside values up to `largest`.
bool beyond_rounding(double max_abs, double largest);

/// "max 1.2e-04, rms 1.4e-05", or how many outputs are not numbers, and why; of the output of that name.
std::string describe_error(const Report& report, const std::string& name, const OutputError& error);

/// The outputs of an algorithm of one's own that seem to be something else than it is asked for. Empty for those of the
/// house, which are tested: where they give NaN, the problem does.
std::vector<std::string> wrong_outputs(const Report& report);
/// "mine: O is wrong: max 2.7, ...": a line for each of them, without its full stop.
std::vector<std::string> about_wrong_outputs(const Report& report);
/// "mine computes a wrong O"; empty where nothing is wrong.
std::string wrong_in_short(const Report& report);
/// For whoever has told all that there is of some runs: throws RunError where one of them is wrong, as that says.
void fail_where_wrong(const std::vector<std::string>& in_short);

}  // namespace tilescope::lab
