#include "lab/flags/request.hpp"

#include <span>
#include <utility>
#include <vector>

#include "algorithms/contract/registry.hpp"
#include "algorithms/contract/validate.hpp"
#include "core/text/message.hpp"
#include "lab/flags/gpu.hpp"
#include "lab/flags/in_flags.hpp"
#include "lab/flags/input_files.hpp"
#include "lab/flags/mask.hpp"
#include "lab/flags/model.hpp"
#include "lab/flags/supported.hpp"
#include "lab/flags/table.hpp"
#include "lab/flags/values.hpp"
#include "lab/run/reference.hpp"
#include "lab/workload/paging.hpp"
#include "lab/workload/patterns.hpp"
#include "lab/workload/rounding.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// `o` must have all sizes, also those of a model and of files, so that values that follow from sizes are right.
Problem problem_from(const Options& o, bool sizes_alone = false) {
    Problem p;
    for (const Flag& flag : flags())
        if (flag.ask && (flag.is_size || !sizes_alone) && flag.given(o)) flag.ask(o, p);
    return p;
}

Wish wish_from(const Options& o) {
    const Splits splits = to_splits("--splits", o.splits);
    Tiling tiling{to_tile("--br", o.br), to_tile("--bc", o.bc), splits.number};
    for (const Knob* k : knobs_of_roles())
        if (const auto given = o.roles.find(k->name); given != o.roles.end())
            tiling.*k->value = to_knob(std::string("--") + k->name, given->second, *k).*k->value;
    return {.tiling = tiling,
            .rule = to_named("--tiles", o.tiles, std::span<const TileRule>(tile_rules)),
            .objective = to_named("--objective", o.objective, std::span<const Objective>(objectives)),
            .placing = {to_named("--order", o.order, std::span<const Order>(orders)), o.blocks_per_sm.value_or(0)},
            .splits = splits.rule,
            .packing = to_named("--pack", o.pack, std::span<const Packing>(packings))};
}

}  // namespace

Request resolve(const Options& o, const Algorithm& algorithm, Control* control) {
    Request r = resolve(o, *algorithm.computes, control);
    check_supported(algorithm, r.problem, o);
    return r;
}

Request resolve(const Options& given, const Computation& computation, Control* control) {
    // Flags, the model and files decide sizes. What follows from sizes comes after them.
    Options o = with_model(given);
    Request r{.problem = {},
              .wish = wish_from(o),
              .gpu = gpu_from(o),
              .file_rank = 0,
              .inputs = {},
              .model = model_asked(given),
              .phase = phase_asked(given),
              .remark = ""};
    check_files(computation, o);
    if (const char* flag = attention_flag(given); flag && !computation.features.has(Feature::head_dims))
        throw UsageError(message("request.flag_of_attention", flag));
    check_model(given);
    read_input_files(o, r, control);
    r.problem = problem_from(o);
    in_flags([&] { validate(r.problem); });
    r.problem.mask = mask_from(o, r.problem);
    in_flags([&] { validate(r.problem); });
    hide_rows(o, r.problem);
    if (o.causal_corner != Options().causal_corner && !r.problem.mask.hides() && r.problem.alibi == 0)
        throw UsageError(message("request.corner_without_mask", o.causal_corner));
    read_bias_files(o, r, computation, control);
    if (const std::string unlike = unlike_prefix(r.inputs, r.problem); !unlike.empty())
        throw UsageError(message("request.unlike_prefix", std::to_string(r.problem.pages.shared), unlike));
    if (o.exact_inputs && (&computation != &computation::attention || !o.q.empty()))
        throw UsageError(message(o.q.empty() ? "request.exact_inputs" : "request.exact_inputs_of_files"));
    in_flags([&] {
        validate(r.wish.tiling, r.problem);
        if ((o.q + o.x).empty() && computation.features.has(Feature::head_dims))
            check_pattern(to_distribution(o.distribution), r.problem.dim);
    });
    return r;
}

Problem sizes_from(const Options& o) { return problem_from(with_model(o), true); }

Problem problem_of(const Algorithm& algorithm, const Request& r) {
    return packed_for(algorithm, r.problem, r.wish.packing);
}

Experiment experiment_of(const Algorithm& algorithm, const Request& r, Control* control) {
    return mapped(algorithm, problem_of(algorithm, r), r.wish, r.gpu, control);
}

Inputs inputs_for(const Options& o, const Request& request, const Algorithm& algorithm, Control* control) {
    const std::vector<TensorDecl> tensors = algorithm.tensors(unpacked(request.problem), {1, 1});
    std::vector<TensorDecl> missing = tensors;
    std::erase_if(missing, [&](const TensorDecl& t) {
        return t.role != Role::input || t.dtype == Dtype::i32 || t.saved || request.inputs.contains(t.name);
    });
    if (o.exact_inputs)
        for (TensorDecl& t : missing) t.dtype = Dtype::f32;  // stored_inputs() rounds these
    // Packed or not, a query of a head has the same values.
    Inputs all = random_inputs(missing, o.seed, to_distribution(o.distribution), control);
    all.insert(request.inputs.begin(), request.inputs.end());
    all = with_saved(algorithm, request.problem, std::move(all), static_cast<int>(o.threads), control);
    all = stored_inputs(unpacked(request.problem), tensors, with_shared_prefix(std::move(all), request.problem));
    return packed_inputs(all, request.problem);
}

}  // namespace tilescope::lab
