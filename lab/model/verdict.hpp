// What a modelled launch waits for, in sentences.
#pragma once

#include <string>

#include "core/time/rates.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// "tensor cores"
std::string in_words(Unit unit);
/// What the launch waits for, and what would help, in a sentence or two.
std::string verdict(const LaunchTime& launch, Style style, const Experiment& experiment);
/// The verdict on the longest launch of a run; before it, why no kernel would run like that, if none would.
std::string verdict(const RunTime& run, const Experiment& experiment);

}  // namespace tilescope::lab
