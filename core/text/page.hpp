// The width of a terminal's line, and printing text within this width.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>

namespace tilescope::text {

/// The width of a line, in characters. Everything that is printed keeps to it.
constexpr std::size_t line_width = 120;

/// Prints the text's lines, and breaks wider ones between words. Every line begins with `indent`; a line that continues
/// another has `further` after that.
void print_wrapped(std::ostream& out, const std::string& text, const std::string& indent = "",
                   const std::string& further = "  ");

}  // namespace tilescope::text
