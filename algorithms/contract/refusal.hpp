// Which problems an algorithm refuses.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "algorithms/contract/algorithm.hpp"

namespace tilescope {

/// The algorithms of the computation for which does() is true; where there are none, those of the first that has some.
std::vector<const Algorithm*> who_does(const Computation& computation,
                                       const std::function<bool(const Algorithm&)>& does);

/// A feature that a problem asks for and an algorithm lacks, and who has it: see who_does().
struct Refusal {
    Feature feature;
    std::vector<const Algorithm*> instead;
};
/// The one place that decides which problems an algorithm refuses; nullopt where it supports this one.
std::optional<Refusal> refuses(const Algorithm& algorithm, const Problem& problem);

}  // namespace tilescope
