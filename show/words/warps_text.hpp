// The warps of a thread block: both ways to share a tile, in numbers and in sentences.
#pragma once

#include <string>
#include <vector>

#include "lab/model/warps.hpp"

namespace tilescope::show {

/// What `explain` says of an experiment's warps. Everything is empty where nothing is known of them; the table alone is
/// empty where there is nothing to compare.
struct WarpsText {
    std::string heading;
    std::vector<std::string> before;              ///< sentences, a paragraph each
    std::vector<std::vector<std::string>> table;  ///< its header first
    std::vector<std::string> after;
};
/// `number` of warps; 0: as many as the released kernel has.
WarpsText warps_text(const lab::Experiment& experiment, Index number = 0);

}  // namespace tilescope::show
