// Reports as JSON, with keys in a fixed order. For sources that have nlohmann-json.
#pragma once

#include <nlohmann/json.hpp>

#include "core/record/profile.hpp"
#include "lab/report/experiment_json.hpp"
#include "lab/report/metric.hpp"

namespace tilescope::lab {

using Json = nlohmann::ordered_json;

Json to_json(const MetricValue& value);
/// The metrics that are sums of counters.
Json to_json(const Counters& counters);
Json to_json(const Traffic& traffic);
/// Every metric of a launch and, where it has a time, the parts of that time.
Json to_json(const Launch& launch);
/// How far times like the report's were from measured ones; null where no error is stated, or there is no time.
Json time_error(const Report& report);
/// Everything that `run --json` prints. Output errors that mean nothing (OutputError::tells()) become null.
Json to_json(const Report& report);
/// Adds a run of a small problem with the same tiles, whose outputs were checked. `problem`: the small one, unpacked.
void add_small(Json& report, const Report& small, const Problem& problem);
/// Everything that `explain --json` prints. `warps`: how many warps share a tile; 0: as in the released kernel.
Json to_json(const Experiment& experiment, const Profile& profile, Index warps);

}  // namespace tilescope::lab
