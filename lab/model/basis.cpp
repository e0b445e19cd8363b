#include "lab/model/basis.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/contract/feature_names.hpp"
#include "algorithms/contract/kernel_description.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/gpu/gpu_fields.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/laned.hpp"
#include "lab/model/registers.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// Whether kernels with lanes were measured that multiply in 8 bits: compared() knows which.
bool has_kernel_in_8_bits(const Experiment& e) {
    return size_of(e.problem.query_type()) == 1 && e.algorithm->kernel->compared && has_timed_lanes(e);
}

/// What a problem asks for that no measured kernel has: "such a mask"; empty where there is nothing.
std::string beyond_kernels(const Experiment& e) {
    const Problem& p = e.problem;
    constexpr FeatureSet measured = {Feature::head_dims, Feature::grouped_heads, Feature::scale,
                                     Feature::mask,      Feature::naive_softmax, Feature::accumulator};
    if (p.mask.hides() && !p.mask.is_causal()) return message("verdict.such_a_mask");
    for (const Feature f : all_features)
        if (p.uses(f) && !measured.has(f) && !(f == Feature::eight_bits && has_kernel_in_8_bits(e))) return name_of(f);
    return "";
}

/// The GPU's name. For a changed preset it says so, because the bare name would claim that this machine was measured.
std::string name_of_machine(const GpuSpec& gpu) {
    return is_changed_preset(gpu) ? message("verdict.gpu_with_other_numbers", gpu.name) : gpu.name;
}

std::string tile_text(const Tiling& t) {
    return message("verdict.size_of_tile", std::to_string(t.br), std::to_string(t.bc));
}

/// The kernel with lanes that was measured, or one with its tiles; nullopt where none was.
std::optional<ComparedKernel> compared_with(const RunTime& run, const Experiment& e) {
    const auto compared = e.algorithm->kernel->compared;
    if (!compared || !has_timed_lanes(e)) return std::nullopt;
    return compared(e.problem, run.tile, e.gpu);
}

/// Says of lanes whose kernel was not measured how far off those of the nearest one are, whose roles are others.
std::string lanes_not_measured(const RunTime& run, const Experiment& e) {
    const auto near = compared_with(run, e);
    if (!near) return message("verdict.lanes_not_measured");
    std::vector<std::string> roles;
    for (const Knob& k : e.algorithm->knobs)
        if (near->other.*k.value > 0) roles.push_back(std::string("--") + k.name + ' ' + k.text(near->other));
    return message("verdict.other_roles_measured", text::listed(roles), text::percent(near->error.mean),
                   text::percent(near->error.worst));
}

/// Says that no kernel with these tiles was measured, and lists the measured tiles for these dimensions.
std::string these_tiles_not_measured(const RunTime& run, const Experiment& e) {
    std::vector<std::string> tiles;
    for (const Tiling& t : compiled_tiles(e)) tiles.push_back(tile_text(t));
    const std::string style = name_of(run.style);
    return tiles.empty()
               ? message("verdict.tiles_not_measured", style, e.algorithm->name)
               : message("verdict.other_tiles_measured", style, e.algorithm->name, text::listed(tiles), tiles.size());
}

std::string basis_of_style(const RunTime& run, const Experiment& e) {
    const std::string style = name_of(run.style);
    switch (run.basis) {
        case Basis::own_style:
            if (run.launches.front().lanes)
                return message("verdict.error_of_lanes", text::percent(run.error->mean),
                               text::percent(run.error->worst));
            return message("verdict.error", style, text::percent(run.error->mean), text::percent(run.error->worst),
                           e.algorithm->name);
        case Basis::other_style:
            if (const std::string what = beyond_kernels(e); !what.empty())
                return message("verdict.not_measured_with", style, e.algorithm->name, what);
            if (run.launches.front().lanes) return lanes_not_measured(run, e);
            if (e.algorithm->kernel->stated_error(run.style)) return these_tiles_not_measured(run, e);
            return message("verdict.as_flash_v2", style);
        case Basis::assumed:
            break;
    }
    if (e.gpu.compute_capability == "none") return message("verdict.machine_is_made_up", style);
    return e.gpu.mma_flops_per_clk ? message("verdict.gpu_not_measured", style, name_of_machine(e.gpu))
                                   : message("verdict.gpu_not_calibrated", style, e.gpu.name);
}

}  // namespace

bool was_measured(const GpuSpec& gpu) {
    // The devices of docs/measured; tests/device/measurements_test.cpp compares.
    static const GpuSpec measured[] = {gpu_preset("H100-SXM"), gpu_preset("H200")};
    return std::any_of(std::begin(measured), std::end(measured),
                       [&](const GpuSpec& g) { return same_machine(g, gpu); });
}

void set_basis(RunTime& run, const Experiment& e) {
    const bool compiled =
        std::all_of(run.launches.begin(), run.launches.end(), [](const LaunchTime& l) { return l.compiled; });
    const bool measured = was_measured(e.gpu);
    if (measured && compiled && beyond_kernels(e).empty()) {
        if (const auto kernel = compared_with(run, e); kernel && kernel->other == Tiling{})
            run.error = kernel->error;
        else if (!has_timed_lanes(e))
            run.error = e.algorithm->kernel->stated_error(run.style);
    }
    run.basis = run.error ? Basis::own_style : measured ? Basis::other_style : Basis::assumed;
}

std::string about_cut_tile(const RunTime& run, const Experiment& e) {
    return run.tile == e.tiling ? "" : message("verdict.cut_tile", tile_text(e.tiling), tile_text(run.tile));
}

std::string basis(const RunTime& run, const Experiment& e) {
    const std::string cut = about_cut_tile(run, e);
    return text::sentences({basis_of_style(run, e), cut.empty() ? "" : message("verdict.cuts_tile", cut)});
}

}  // namespace tilescope::lab
