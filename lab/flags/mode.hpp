// Whether a run computes on real numbers or only counts.
#pragma once

#include <string>
#include <vector>

#include "lab/flags/request.hpp"

namespace tilescope::lab {

/// The decision: whether to compute on real numbers, and the reason in a few words.
struct ModeChoice {
    bool numeric = false;
    std::string why;
    std::string fix = "";  ///< what the user can do to need less memory
};
/// Decides for runs whose reports are `counted`. Throws UsageError for an unknown mode, RunError where numbers are
/// asked for and do not fit in memory.
ModeChoice choose_mode(const Options& options, const Request& request, const std::vector<Report>& counted);

}  // namespace tilescope::lab
