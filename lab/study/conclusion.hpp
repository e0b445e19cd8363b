// What a comparison says in the end: who wins, by how much, and why.
#pragma once

#include <span>

#include "lab/run/experiment.hpp"

namespace tilescope::lab {

struct Contender {
    std::string label;
    const Report* report;
    bool wrong = false;  ///< it computes something else, so its time is not compared
};

/// Sentences: the fastest, what is too close to call, why the others take longer, and what is not ranked (no kernel
/// would run like that). No ranking where fewer than two are right and have a time, or problems differ.
std::vector<std::string> conclusion(std::span<const Contender> contenders);

}  // namespace tilescope::lab
