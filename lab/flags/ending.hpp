// Names of output files say what is in them.
#pragma once

#include <string>
#include <vector>

namespace tilescope::lab {

/// UsageError where `path` has the ending of a file of another kind than `endings` (".png"). No ending, as that of a
/// pipe, is fine, too. Returns the ending of `path` in lower case.
std::string check_ending(const std::string& flag, const std::string& path, const std::vector<std::string>& endings);

}  // namespace tilescope::lab
