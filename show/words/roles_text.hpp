// What warps with roles do, in words: the knobs of algorithms/contract/roles.hpp.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "core/machine/lane_info.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::show {

/// Sentences about who loads, who computes, and who waits for whom; empty where an algorithm's warps have no roles.
std::string roles_text(const lab::Experiment& experiment);
/// "producer: 4 warps with 24 registers a thread; consumer: ...", of lanes and their names.
std::string lanes_text(std::span<const std::pair<std::string, LaneSpec>> lanes);

}  // namespace tilescope::show
