// A run as a table on a blackboard: a row for every step, a column for every tile that is computed.
#pragma once

#include <string>
#include <vector>

#include "show/run/run.hpp"

namespace tilescope::show {

struct Blackboard {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> left_out;  ///< tiles that found no room
};

/// One row for each of these steps of an SM: its number, line and formula, and the new row 0 of each computed tile that
/// the step writes, row statistics first. Tiles that do not fit into `width` characters are left out. Without values,
/// the row has bytes and FLOPs so far in place of tiles. Leaves the run at the last of these steps.
Blackboard blackboard(Run& run, Index sm, const std::vector<Index>& steps, std::size_t width);

}  // namespace tilescope::show
