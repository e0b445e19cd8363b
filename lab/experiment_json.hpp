// An experiment as JSON: written, and read back. For sources that have nlohmann-json.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "lab/experiment.hpp"

namespace tilescope::lab {

/// The sizes of a problem by the names that they have in every output: batch, heads, kv_heads, seq_q, seq_k, dim,
/// dim_v.
struct SizeKey {
    const char* key;
    Index Problem::*size;
};
std::span<const SizeKey> problem_sizes();

/// Its own keys, in a fixed order: algorithm, problem, tiling, gpu.
nlohmann::ordered_json to_json(const Experiment& experiment);

/// The experiment that such an object names; other keys are not looked at. The algorithm is nullptr where there is none
/// of that name. UsageError, one line that begins with `file`.
Experiment experiment_from(const nlohmann::ordered_json& json, const std::string& file);

}  // namespace tilescope::lab
