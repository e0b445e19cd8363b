// What happened on each line of an algorithm's pseudo-code, and on none of them.
#pragma once

#include <utility>
#include <vector>

#include "core/record/profile.hpp"
#include "lab/experiment.hpp"

namespace tilescope::lab {

/// Every line of the pseudo-code that the problem has use for, with what happened there, if anything did; and after
/// them what a program did on lines that its code does not have, or before it said any: "(before any line)", whose
/// number is 0.
std::vector<std::pair<CodeLine, LineProfile>> explained_lines(const Experiment& experiment, const Profile& profile);

}  // namespace tilescope::lab
