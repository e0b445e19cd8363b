#include "lab/report/experiment_json.hpp"

#include <optional>

#include "algorithms/contract/packed.hpp"
#include "algorithms/contract/validate.hpp"
#include "core/record/json_entry.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/gpu/gpu_json.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/report/problem_fields.hpp"
#include "lab/workload/splits.hpp"

namespace tilescope::lab {
using text::message;
namespace {

Problem problem_from(JsonEntry e, const std::string& file) {
    Problem p;
    for (const ProblemField& field : problem_fields())
        if (e.has(field.key) || field.needed(e, p)) field.read(e, field.key, p, file);
    e.finish();
    try {
        validate(p);
    } catch (const BadValue& error) {
        e.refuse(error.what());
    }
    return p;
}

/// The value of a knob that is no size.
Index knob_from(JsonEntry& tiling, const Knob& k) {
    if (k.names.empty()) return tiling.integer(k.name, 1, k.most);
    const std::string name = tiling.text(k.name);
    const std::optional<Index> value = k.value_of(name);
    if (!value)
        tiling.refuse(message("experiment_json.knob", k.name, text::shown(name),
                              text::alternatives({k.names.begin(), k.names.end()})));
    return *value;
}

GpuSpec gpu_from(const nlohmann::ordered_json& gpu, const std::string& file) {
    try {
        return recorded_gpu(gpu.dump(), text::shown(file) + ": gpu");
    } catch (const BadValue& error) {
        throw UsageError(
            message("experiment_json.refused", error.value, error.allowed));  // the value says which file and key
    }
}

}  // namespace

nlohmann::ordered_json to_json(const Experiment& e) {
    const Problem p = unpacked(e.problem);
    nlohmann::ordered_json problem;
    // One by one: a temporary list would not be destroyed completely where memory runs out.
    for (const ProblemField& field : problem_fields())
        if (field.written(p, *e.algorithm)) problem[field.key] = field.get(p);
    nlohmann::ordered_json tiling;
    for (const Knob& k : e.algorithm->knobs) {
        if (!k.is_size && e.tiling.*k.value == 0) continue;  // left open
        if (k.names.empty())
            tiling[k.name] = e.tiling.*k.value;
        else
            tiling[k.name] = k.text(e.tiling);
    }
    if (e.algorithm->packs) tiling["packed"] = e.problem.packed;
    return {{"algorithm", e.algorithm->name},
            {"problem", problem},
            {"tiling", tiling},
            {"gpu", nlohmann::ordered_json::parse(gpu_json(e.gpu))}};
}

Experiment experiment_from(const nlohmann::ordered_json& json, const std::string& file) {
    const std::string recording = message("recording.the_recording");
    JsonEntry whole(json, file, recording.c_str());
    Experiment e;
    e.algorithm = find_algorithm(whole.text("algorithm"));
    e.problem = problem_from(JsonEntry(whole.at("problem"), file, "problem"), file);
    JsonEntry tiling(whole.at("tiling"), file, "tiling");
    e.tiling = {tiling.integer("br", 1), tiling.integer("bc", 1)};
    if (e.algorithm && has_splits(e.algorithm->knobs)) e.tiling.splits = tiling.integer("splits", 0, most_splits);
    for (const Knob& k : e.algorithm ? e.algorithm->knobs : Knobs())
        if (!k.is_size && tiling.has(k.name)) e.tiling.*k.value = knob_from(tiling, k);
    if (const Index group = e.problem.heads / e.problem.kv_heads; tiling.has("packed")) {
        const Index rows = tiling.integer("packed", 1);
        if (rows != 1 && rows != group) tiling.refuse(message("experiment_json.packed", std::to_string(group)));
        if (rows > 1) e.problem = packed(e.problem);
    }
    tiling.finish();
    e.gpu = gpu_from(whole.at("gpu"), file);
    return e;
}

}  // namespace tilescope::lab
