// Several messages at once: the header of a table, the examples of a command.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope::cli {

/// The messages of the ids, without arguments; an empty id gives an empty text.
std::vector<std::string> said(const std::vector<std::string_view>& ids);
/// A text for the help, in lines of at most `width` columns.
std::string paragraph(const std::string& words, std::size_t width = 112);
/// Commands to be typed, a line each, below "Examples:".
std::string examples(const std::vector<std::string_view>& ids);

}  // namespace tilescope::cli
