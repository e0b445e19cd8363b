// Which problems an algorithm refuses.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/contract/algorithm.hpp"

namespace tilescope {

/// A feature that a problem asks for and an algorithm lacks, and algorithms of the same computation that have it; of
/// another one, where none has.
struct Refusal {
    Feature feature;
    std::vector<const Algorithm*> instead;
};
/// The one place that decides which problems an algorithm refuses; nullopt where it supports this one.
std::optional<Refusal> refuses(const Algorithm& algorithm, const Problem& problem);

}  // namespace tilescope
