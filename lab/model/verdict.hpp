// What a modelled launch waits for, in sentences.
#pragma once

#include <string>

#include "core/time/rates.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// The unit's name in a sentence: "tensor cores".
std::string in_words(Unit unit);
/// What the launch waits for, and what would help, in a sentence or two.
std::string verdict(const LaunchTime& launch, Style style, const Experiment& experiment);
/// The verdict on the longest launch of a run. If no kernel could run like this, the reason comes first.
std::string verdict(const RunTime& run, const Experiment& experiment);
/// How many thread blocks of the longest launch are persistent, and what they share; empty where none are.
std::string about_persistent(const RunTime& run);

}  // namespace tilescope::lab
