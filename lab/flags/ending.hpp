// Names of output files say what is in them.
#pragma once

#include <string>
#include <vector>

namespace tilescope::lab {

/// UsageError where `path` ends like a file of another kind than `endings` (".png"). No ending, as that of a pipe, is
/// fine, too. Returns the one that it has, in small letters.
std::string check_ending(const std::string& flag, const std::string& path, const std::vector<std::string>& endings);

}  // namespace tilescope::lab
