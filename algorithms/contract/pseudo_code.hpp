// What people read of an algorithm: the lines of its pseudo-code, why each is there, and its idea.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/contract/algorithm.hpp"

namespace tilescope {

/// An algorithm's pseudo-code without the lines that the problem does not use.
std::vector<CodeLine> code_for(const Algorithm& algorithm, const Problem& problem);
/// The pseudo-code of the line with this number, without indentation; empty where there is no such line.
std::string code_of(const Algorithm& algorithm, std::uint16_t line);

/// What the algorithm adds to the rung before, in a line.
std::string idea_of(const Algorithm& algorithm);
/// What happens on the line and why, in a sentence; empty where there is nothing to say.
std::string why_of(const Algorithm& algorithm, const CodeLine& line);

}  // namespace tilescope
