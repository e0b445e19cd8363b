// What the help of a command says below its flags.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope::cli {

/// A text for the help, in lines of at most `width` columns.
std::string paragraph(const std::string& words, std::size_t width = 112);
/// Commands to be typed, a line each, below "Examples:".
std::string examples(const std::vector<std::string_view>& ids);

}  // namespace tilescope::cli
