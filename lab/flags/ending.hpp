// Names of output files say what is in them.
#pragma once

#include <string>
#include <vector>

namespace tilescope::lab {

/// Returns the ending of `path` in lower case. UsageError where it is none of `endings` (".png"). A path without an
/// ending, as of a pipe, is allowed.
std::string check_ending(const std::string& flag, const std::string& path, const std::vector<std::string>& endings);

}  // namespace tilescope::lab
