// Which mode a run takes.
#pragma once

#include <string>
#include <vector>

#include "lab/flags/request.hpp"

namespace tilescope::lab {

/// What --mode asks for, decided: whether to compute on real numbers, and the reason in a few words.
struct ModeChoice {
    bool numeric = false;
    std::string why;
    std::string fix = "";  ///< what the user can do to need less memory
};
/// For runs already counted. Throws UsageError for an unknown mode, RunError when numbers would not fit in memory.
ModeChoice choose_mode(const Options& options, const Request& request, const std::vector<Report>& counted);

}  // namespace tilescope::lab
