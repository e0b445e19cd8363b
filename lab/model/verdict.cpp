// What a modelled time says, in sentences.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/gpu/gpu_fields.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/full_tiles.hpp"
#include "lab/model/published_tiles.hpp"
#include "lab/model/registers.hpp"
#include "lab/model/timing.hpp"
#include "lab/workload/paging.hpp"
#include "lab/workload/splits.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// The two units that are busiest: "tensor cores 50%, shared memory 48%".
std::string busiest(const PerUnit& busy) {
    std::array<std::size_t, unit_count> order{};
    for (std::size_t u = 0; u < unit_count; ++u) order[u] = u;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return busy[a] > busy[b]; });
    const auto word = [&](std::size_t k) { return in_words(static_cast<Unit>(order[k])); };
    return message("verdict.busiest", word(0), text::percent(busy[order[0]]), word(1), text::percent(busy[order[1]]));
}

/// How to cut the keys into more parts: "keys in parallel (split_kv)"; empty where that is not possible.
std::string keys_in_parallel(const LaunchTime& t, const Experiment& e) {
    const Index key_blocks = ceil_div(e.problem.seq_k, e.tiling.bc);
    if (has_splits(e.algorithm->knobs)) {
        const Count by_part = std::max<Count>(1, t.blocks / std::max<Index>(1, e.tiling.splits));
        const Index splits = std::min({ceil_div(e.gpu.sms, by_part), key_blocks, most_splits});
        return splits > e.tiling.splits ? message("verdict.more_parts", std::to_string(splits)) : "";
    }
    const bool short_of_rows = e.problem.seq_q <= e.tiling.br && key_blocks > 1;
    for (const Algorithm& a : algorithms())
        if (short_of_rows && a.computes == e.algorithm->computes && has_splits(a.knobs))
            return message("verdict.keys_in_parallel_as", a.name);
    return "";
}

/// "a smaller Br", or, where a thread block has all rows of a head (as in flash_v1), the algorithm that spreads rows
/// over thread blocks; empty where neither makes more thread blocks.
std::string rows_in_parallel(const LaunchTime& t, const Experiment& e) {
    if (e.tiling.br >= e.problem.seq_q) return "";
    if (t.blocks > e.problem.batch_heads()) return e.tiling.br > 16 ? message("verdict.smaller_br") : "";
    const Algorithm* by_rows = usual_of(*e.algorithm->computes);
    return by_rows ? message("verdict.rows_in_parallel_as", by_rows->name) : "";
}

/// "More heads, a smaller Br or keys in parallel would make more." Backward passes have launches over rows and over
/// keys, or over none.
std::string more_blocks(const std::string& keys, const LaunchTime& t, const Experiment& e) {
    if (e.algorithm->computes == &computation::attention_backward) return message("verdict.more_heads");
    const std::string rows = rows_in_parallel(t, e),
                      or_keys = keys.empty() ? message("verdict.keys_in_parallel") : keys;
    return rows.empty() ? message("verdict.more_heads_or", or_keys)
                        : message("verdict.more_heads_or_two", rows, or_keys);
}

/// "124 of 132 SMs have no thread block: keys in parallel (split_kv) would make more."; empty where every SM has one,
/// or the bound says it already.
std::string idle_sms(const LaunchTime& t, const Experiment& e) {
    if (t.blocks >= e.gpu.sms || t.bound == Bound::blocks) return "";
    if (e.algorithm->computes == &computation::attention_backward) return "";
    const std::string keys = keys_in_parallel(t, e);
    const std::string rows = rows_in_parallel(t, e);
    if (keys.empty() && rows.empty()) return "";
    return message("verdict.idle_sms", e.gpu.sms - t.blocks, e.gpu.sms, keys.empty() ? rows : keys);
}

/// "24 thread blocks are left over by full waves: with --splits 8 there would be none."; empty where that costs little,
/// or nothing can be done about it.
std::string left_over(const LaunchTime& t, const Experiment& e) {
    constexpr double much = 0.1;  // of the slots' time in a launch
    if (!has_splits(e.algorithm->knobs) || t.kernel != e.algorithm->name || t.tail < much) return "";
    const Count wave = e.gpu.sms * t.residency.blocks, left = t.blocks % wave, full = t.blocks / wave * wave;
    const Index splits = full / (t.blocks / std::max<Index>(1, e.tiling.splits));
    if (left == 0 || splits < 1) return "";
    return message("verdict.left_over", left, std::to_string(splits));
}

std::string about_bound(const LaunchTime& t, Style style, const Experiment& e) {
    const std::string keys = keys_in_parallel(t, e);
    switch (t.bound) {
        case Bound::launch:
            return message("verdict.launching");
        case Bound::blocks:
            if (2 * t.blocks >= e.gpu.sms * t.residency.blocks)  // enough to fill half the slots
                return message("verdict.uneven_blocks", t.blocks, text::tenths(t.imbalance));
            return text::sentences(
                {message("verdict.few_blocks", t.blocks, e.gpu.sms, t.residency.blocks), more_blocks(keys, t, e)});
        case Bound::dependency:
            return message("verdict.no_unit_all_the_time", busiest(t.busy));
        default: {
            const auto unit = static_cast<Unit>(static_cast<int>(t.bound) - static_cast<int>(Bound::tensor));
            const double of_a_step =
                unit < Unit::l2 ? t.step.busy[static_cast<std::size_t>(unit)] : std::max(t.step.memory, t.step.bus);
            const double share =
                static_cast<double>(t.residency.blocks) * of_a_step / t.step.together(t.residency.blocks);
            const double lost = unit < Unit::l2 ? constants_of(style).eta : 1;
            return lost > 1 && t.residency.blocks > 1
                       ? message("verdict.limit_with_contention", in_words(unit), text::percent(share),
                                 text::percent(std::min(1.0, share * lost)))
                       : message("verdict.limit", in_words(unit), text::percent(share));
        }
    }
}

/// The name of the preset alone would say that this very machine was measured.
std::string name_of_machine(const GpuSpec& gpu) {
    return is_changed_preset(gpu) ? message("verdict.gpu_with_other_numbers", gpu.name) : gpu.name;
}

std::string tile_text(const Tiling& t) {
    return message("verdict.size_of_tile", std::to_string(t.br), std::to_string(t.bc));
}

/// That no kernel with these tiles was measured, and which were, of these dimensions.
std::string these_tiles_not_measured(const RunTime& run, const Experiment& e) {
    std::vector<std::string> tiles;
    for (const Tiling& t : compiled_tiles(e)) tiles.push_back(tile_text(t));
    const std::string style = name_of(run.style);
    return tiles.empty()
               ? message("verdict.tiles_not_measured", style, e.algorithm->name)
               : message("verdict.other_tiles_measured", style, e.algorithm->name, text::listed(tiles), tiles.size());
}

}  // namespace

std::string in_words(Unit unit) {
    static constexpr std::array<const char*, unit_count> words{"verdict.tensor_cores",
                                                               "verdict.fp32_units",
                                                               "verdict.exponential_units",
                                                               "verdict.other_arithmetic",
                                                               "verdict.shared_memory",
                                                               "verdict.l2",
                                                               "verdict.dram"};
    return message(words[static_cast<std::size_t>(unit)]);
}

std::string verdict(const LaunchTime& t, Style style, const Experiment& e) {
    return text::sentences({about_bound(t, style, e), idle_sms(t, e), left_over(t, e), untimed_pages(e.problem)});
}

std::string verdict(const RunTime& run, const Experiment& e) {
    const std::string why = why_infeasible(run);
    return text::sentences({why.empty() ? "" : message("verdict.infeasible", why),
                            run.launches.size() > 1 ? message("verdict.longest_launch", run.longest().kernel) : "",
                            verdict(run.longest(), run.style, e)});
}

namespace {

/// The time in which DRAM is busy.
double us_at_dram(const RunTime& run) {
    double us = 0;
    for (const LaunchTime& l : run.launches) us += l.busy[static_cast<std::size_t>(Unit::dram)] * l.us;
    return us;
}

}  // namespace

double kept_by_l2(const Report& r) {
    // This is not enough to be kept: partitions that hold copies have room for less than the L2's size.
    if (!r.time || r.hbm_footprint > r.experiment.gpu.l2_bytes) return 0;
    Bytes first = 0, again = 0;
    for (const LaunchTime& l : r.time->launches) {
        if (!l.dram || !l.dram_again) return 0;
        first += l.dram->total(), again += l.dram_again->total();
    }
    return first > again ? 1 - static_cast<double>(again) / static_cast<double>(first) : 0;
}

bool is_warm(const Report& r) { return kept_by_l2(r) > 0.5; }

std::string about_warm(const Report& r) {
    if (!is_warm(r)) return "";
    const double kept = kept_by_l2(r);
    const std::string touched = text::bytes(r.hbm_footprint);
    return text::sentences(
        {kept < nearly_all_kept ? message("verdict.warm_in_part", text::percent(kept), touched)
                                : message("verdict.warm", touched),
         message("verdict.dram_of_warm_time", cold_traffic(), text::percent(us_at_dram(*r.time) / r.time->us()))});
}

std::string cold_traffic() { return message("verdict.cold_traffic"); }

bool was_measured(const GpuSpec& gpu) {
    // The devices of docs/measured; tests/device/measurements_test.cpp compares.
    static const GpuSpec measured[] = {gpu_preset("H100-SXM"), gpu_preset("H200")};
    return std::any_of(std::begin(measured), std::end(measured),
                       [&](const GpuSpec& g) { return same_machine(g, gpu); });
}

std::string beyond_kernels(const Problem& p) {
    if (p.mask.hides() && !p.mask.is_causal()) return message("verdict.such_a_mask");
    for (const Feature f : {Feature::pages, Feature::bias, Feature::alibi, Feature::soft_cap, Feature::dropout,
                            Feature::score_types, Feature::passes})
        if (p.uses(f)) return name_of(f);
    return "";
}

std::string about_cut_tile(const Experiment& e) {
    const Tiling full = kernel_tiles(e);
    return full == e.tiling ? "" : message("verdict.cut_tile", tile_text(e.tiling), tile_text(full));
}

namespace {

std::string basis_of_style(const RunTime& run, const Experiment& e) {
    const std::string style = name_of(run.style);
    switch (run.basis) {
        case Basis::own_style:
            return message("verdict.error", style, text::percent(run.error->mean), text::percent(run.error->worst),
                           e.algorithm->name);
        case Basis::other_style:
            if (const std::string what = beyond_kernels(e.problem); !what.empty())
                return message("verdict.not_measured_with", style, what);
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

std::string basis(const RunTime& run, const Experiment& e) {
    const std::string cut = about_cut_tile(e);
    return text::sentences({basis_of_style(run, e), cut.empty() ? "" : message("verdict.cuts_tile", cut)});
}

}  // namespace tilescope::lab
