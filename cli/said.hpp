// Several messages at once: the header of a table, the examples of a command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilescope::cli {

/// The messages of these ids, which have no arguments.
std::vector<std::string> said(const std::vector<std::string_view>& ids);
/// The same as lines below one another.
std::string lines_of(const std::vector<std::string_view>& ids);
/// Commands to be typed, a line each, below "Examples:".
std::string examples(const std::vector<std::string_view>& ids);

}  // namespace tilescope::cli
