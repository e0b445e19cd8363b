// An experiment as JSON: written, and read back. For sources that have nlohmann-json.
#pragma once

#include <nlohmann/json.hpp>

#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// An object with the keys algorithm, problem, tiling and gpu, in this order.
nlohmann::ordered_json to_json(const Experiment& experiment);

/// The experiment that a JSON object describes; other keys are ignored. The algorithm is nullptr where no algorithm has
/// the name. Throws UsageError: one line that begins with `file`.
Experiment experiment_from(const nlohmann::ordered_json& json, const std::string& file);

}  // namespace tilescope::lab
