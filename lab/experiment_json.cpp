#include "lab/experiment_json.hpp"

#include <cmath>

#include "algorithms/contract/packed.hpp"
#include "algorithms/contract/validate.hpp"
#include "core/record/json_entry.hpp"
#include "core/text/words.hpp"
#include "lab/gpu_presets.hpp"
#include "lab/mask_json.hpp"
#include "lab/splits.hpp"

namespace tilescope::lab {
namespace {

double default_scale(const Problem& p) { return 1.0 / std::sqrt(static_cast<double>(p.dim)); }

/// What is done to scores: keys that are there where something is.
void read_scores(JsonEntry& e, Problem& p) {
    if (e.has("bias")) {
        const std::string axes = e.text("bias");
        const auto terms = Bias::terms_from(axes);
        if (!terms) e.refuse("bias: " + text::shown(axes) + " are no axes of a bias");
        p.bias = {*terms, e.integer("bias_group", 1)};
    }
    if (e.has("alibi")) {
        const nlohmann::ordered_json& alibi = e.at("alibi");
        if (!alibi.is_boolean()) e.refuse("alibi: must be true or false");
        if (alibi.get<bool>()) p.alibi = e.has("alibi_heads") ? e.integer("alibi_heads", p.heads) : p.heads;
    }
    if (e.has("soft_cap")) p.soft_cap = e.number("soft_cap");
    if (!e.has("dropout")) return;
    p.dropout.p = e.number("dropout");
    const nlohmann::ordered_json& seed = e.at("dropout_seed");
    if (!seed.is_number_unsigned()) e.refuse("dropout_seed: must be a whole number from 0 on");
    p.dropout.seed = seed.get<std::uint64_t>();
    const std::string mask = e.text("dropout_mask");
    if (mask != "stored" && mask != "regenerated") e.refuse("dropout_mask: must be regenerated or stored");
    p.dropout.stored = mask == "stored";
}

void write_scores(nlohmann::ordered_json& problem, const Problem& p) {
    if (p.bias) problem["bias"] = p.bias.name(), problem["bias_group"] = p.bias.group;
    if (p.alibi > 0) problem["alibi"] = true;
    if (p.alibi > 0 && p.alibi != p.heads * p.packed) problem["alibi_heads"] = p.alibi;  // of a part
    if (p.soft_cap) problem["soft_cap"] = *p.soft_cap;
    if (!p.dropout) return;
    problem["dropout"] = p.dropout.p;
    problem["dropout_seed"] = p.dropout.seed;
    problem["dropout_mask"] = p.dropout.stored ? "stored" : "regenerated";
}

Problem problem_from(JsonEntry e, const std::string& file) {
    Problem p;
    for (const auto& [key, size] : problem_sizes()) p.*size = e.integer(key, 1);
    p.dtype = e.named("dtype", {Dtype::f32, Dtype::f16, Dtype::bf16}, tilescope::name_of);
    const nlohmann::ordered_json& causal = e.at("causal");
    if (!causal.is_boolean()) e.refuse("causal: must be true or false");
    if (causal.get<bool>()) p.mask = Mask::causal();
    if (e.has("mask")) p.mask = mask_from(JsonEntry(e.at("mask"), file, "mask"), file);
    if (const double scale = e.number("scale"); scale != default_scale(p)) p.scale = scale;
    if (e.has("page_size")) {
        p.pages = {e.integer("page_size", 0), e.integer("shared_prefix", 0),
                   e.named("page_order", {PageOrder::identity, PageOrder::permuted}, tilescope::name_of)};
    }
    if (e.has("softmax")) p.softmax = e.named("softmax", {Softmax::safe, Softmax::naive}, tilescope::name_of);
    read_scores(e, p);
    e.finish();
    try {
        validate(p);
    } catch (const BadValue& error) {
        e.refuse(error.what());
    }
    return p;
}

GpuSpec gpu_from(const nlohmann::ordered_json& json, const std::string& file) {
    try {
        return recorded_gpu(json.dump(), text::shown(file) + ": gpu");
    } catch (const BadValue& error) {
        throw UsageError(error.value + ": " + error.allowed);  // the value says which file and key
    }
}

}  // namespace

std::span<const SizeKey> problem_sizes() {
    static constexpr SizeKey sizes[] = {{"batch", &Problem::batch},       {"heads", &Problem::heads},
                                        {"kv_heads", &Problem::kv_heads}, {"seq_q", &Problem::seq_q},
                                        {"seq_k", &Problem::seq_k},       {"dim", &Problem::dim},
                                        {"dim_v", &Problem::dim_v}};
    return sizes;
}

nlohmann::ordered_json to_json(const Experiment& e) {
    const Problem p = unpacked(e.problem);
    nlohmann::ordered_json problem;
    for (const auto& [key, size] : problem_sizes()) problem[key] = p.*size;
    // One by one: a temporary list that memory runs out for is not destroyed whole.
    problem["dtype"] = name_of(p.dtype);
    problem["causal"] = p.mask.is_causal();
    if (p.mask.hides() && !p.mask.is_causal()) problem["mask"] = to_json(p.mask);
    problem["scale"] = p.scale.value_or(default_scale(p));
    if (e.algorithm->supports.has(Feature::naive_softmax)) problem["softmax"] = name_of(p.softmax);
    if (e.algorithm->supports.has(Feature::pages)) {
        problem["page_size"] = p.pages.size;
        problem["shared_prefix"] = p.pages.shared;
        problem["page_order"] = name_of(p.pages.order);
    }
    write_scores(problem, p);
    nlohmann::ordered_json tiling;
    for (const Knob& k : e.algorithm->knobs) tiling[k.name] = e.tiling.*k.value;
    if (e.algorithm->packs) tiling["packed"] = e.problem.packed;
    return {{"algorithm", e.algorithm->name},
            {"problem", problem},
            {"tiling", tiling},
            {"gpu", nlohmann::ordered_json::parse(gpu_json(e.gpu))}};
}

Experiment experiment_from(const nlohmann::ordered_json& json, const std::string& file) {
    JsonEntry whole(json, file, "the recording");
    Experiment e;
    e.algorithm = find_algorithm(whole.text("algorithm"));
    e.problem = problem_from(JsonEntry(whole.at("problem"), file, "problem"), file);
    JsonEntry tiling(whole.at("tiling"), file, "tiling");
    e.tiling = {tiling.integer("br", 1), tiling.integer("bc", 1)};
    if (e.algorithm && has_splits(e.algorithm->knobs)) e.tiling.splits = tiling.integer("splits", 0, most_splits);
    if (const Index group = e.problem.heads / e.problem.kv_heads; tiling.has("packed")) {
        const Index rows = tiling.integer("packed", 1);
        if (rows != 1 && rows != group) tiling.refuse("packed: must be 1 or " + std::to_string(group));
        if (rows > 1) e.problem = packed(e.problem);
    }
    tiling.finish();
    e.gpu = gpu_from(whole.at("gpu"), file);
    return e;
}

}  // namespace tilescope::lab
