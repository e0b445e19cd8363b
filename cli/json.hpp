// Reports as JSON, with keys in a fixed order.
#pragma once

#include <nlohmann/json.hpp>

#include "core/record/profile.hpp"
#include "lab/experiment_json.hpp"

namespace tilescope::cli {

using Json = nlohmann::ordered_json;

Json to_json(const Counters& counters);
/// Everything `run --json` prints. Errors that are not numbers become null.
Json to_json(const lab::Report& report);
Json to_json(const lab::Experiment& experiment, const Profile& profile);

}  // namespace tilescope::cli
