// The texts beside and below the pseudo-code: what its lines cost, and what can be done there.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "show/run/session.hpp"

namespace tilescope::show {

/// The pseudo-code of the run or, where there is none, of the algorithm that is asked for.
std::vector<CodeLine> code_of(const Session& session);

/// Bytes and FLOPs of a line so far; empty where it never costs any.
struct LineCost {
    std::string hbm, flops;
    bool has_hbm = false, has_flops = false;  ///< above 0 so far
};
LineCost line_cost(const Run& run, std::uint16_t line);

/// All kinds of costs of a line, for its tooltip: name, so far, whole run; the first row is the header. Empty for a
/// line that is never visited.
std::vector<std::array<std::string, 3>> line_costs(const Run& run, std::uint16_t line);

/// Spaces before a line of code.
std::size_t indent_of(std::string_view code);
/// A line of code, without its indentation, in pieces: the first at most `first` wide including the indentation, others
/// at most `others`, two further in. Broken after a statement, else outside of parentheses, else at any space.
std::vector<std::string_view> code_parts(std::string_view code, std::size_t first, std::size_t others);

/// Lines of code around the one that is carried out.
struct CodeExcerpt {
    std::size_t first, end;  ///< into the lines
};
/// As many lines as fit into `rows` rows: always line `now`, then the one before it, the one after it, and so on; where
/// `now` is below 0, lines from the first on. `heights`: how many rows each line takes.
CodeExcerpt code_excerpt(const std::vector<std::size_t>& heights, std::ptrdiff_t now, std::size_t rows);

/// What the SM in focus (nullptr: there is none) does, or why nothing runs.
std::string what_happens_now(const Session& session, const SmState* focus);

/// The tooltip left of a line's number. `others`: SMs on that line besides the one in focus.
std::string about_breakpoint(Index sm, Count others, bool is_set);
/// Why a click on a line goes to its first visit, or nowhere.
std::string why_no_next_visit(const Run& run, Index sm, std::uint16_t line, bool visited_before);

}  // namespace tilescope::show
