// What is said beside and below the pseudo-code: what lines cost, and what can be done there.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "show/session.hpp"

namespace tilescope::show {

/// Bytes and FLOPs of a line so far; empty where it never costs any.
struct LineCost {
    std::string hbm, flops;
    bool has_hbm = false, has_flops = false;  ///< more than nothing so far
};
LineCost line_cost(const Run& run, std::uint16_t line);

/// All kinds of costs of a line, for its tooltip: name, so far, whole run; the first row is the header. Empty for a
/// line that is never visited.
std::vector<std::array<std::string, 3>> line_costs(const Run& run, std::uint16_t line);

/// What the SM in focus (nullptr: there is none) does, or why nothing runs.
std::string what_happens_now(const Session& session, const SmState* focus);

/// The tooltip left of a line's number. `others`: SMs on that line besides the one in focus.
std::string about_breakpoint(Index sm, Count others, bool is_set);
/// Why a click on a line goes to its first visit, or nowhere.
std::string why_no_next_visit(const Run& run, Index sm, std::uint16_t line, bool visited_before);

}  // namespace tilescope::show
