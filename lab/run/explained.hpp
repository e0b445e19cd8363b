// What happened on each line of an algorithm's pseudo-code, and outside of these lines.
#pragma once

#include <utility>
#include <vector>

#include "core/record/profile.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// Every line of the pseudo-code that the problem uses, with what happened there, if anything did. Then what a program
/// did on lines that its code does not have, and, as "(before any line)" with the number 0, before it named a line.
std::vector<std::pair<CodeLine, LineProfile>> explained_lines(const Experiment& experiment, const Profile& profile);

}  // namespace tilescope::lab
