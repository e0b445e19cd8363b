// A run as a table on a blackboard: a row for every step, a column for every tile that grows.
#pragma once

#include <string>
#include <vector>

#include "show/run.hpp"

namespace tilescope::show {

struct Blackboard {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> left_out;  ///< tiles that found no room
};

/// Of these steps of an SM: step, line, formula, and of row 0 of each tile that is computed what the step has made of
/// it, row statistics first. Where there are no values, what has been moved and computed so far. As wide as `width`
/// allows. Takes the run to the last of these steps.
Blackboard blackboard(Run& run, Index sm, const std::vector<Index>& steps, std::size_t width);

}  // namespace tilescope::show
