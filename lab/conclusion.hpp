// What a comparison says in the end: who wins, by how much, and why.
#pragma once

#include <span>

#include "lab/experiment.hpp"

namespace tilescope::lab {

struct Contender {
    std::string label;
    const Report* report;
    bool wrong = false;  ///< what it computes is something else, so its time is nobody's rival
};

/// Sentences: what no kernel would run like, which is not ranked; the fastest, what is too close to call, and why the
/// others take longer. Empty where fewer than two have a time and are right, or where they solve different problems.
std::vector<std::string> conclusion(std::span<const Contender> contenders);

}  // namespace tilescope::lab
