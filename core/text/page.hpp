// The width of a terminal's line, and keeping to it.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>

namespace tilescope::text {

/// The places of a line that everything printed keeps to.
constexpr std::size_t line_width = 120;

/// The text's lines, cut between words where they are wider than a line; each begins with `indent`, and what continues
/// one with `further` besides.
void print_wrapped(std::ostream& out, const std::string& text, const std::string& indent = "",
                   const std::string& further = "  ");

}  // namespace tilescope::text
