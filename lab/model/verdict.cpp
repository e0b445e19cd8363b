// What a modelled time says, in sentences.
#include <algorithm>
#include <cmath>
#include <string>

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
namespace {

/// The two units that are busiest: "tensor cores 50%, shared memory 48%".
std::string busiest(const PerUnit& busy) {
    std::array<std::size_t, unit_count> order{};
    for (std::size_t u = 0; u < unit_count; ++u) order[u] = u;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return busy[a] > busy[b]; });
    const auto word = [&](std::size_t k) { return in_words(static_cast<Unit>(order[k])); };
    return std::string(word(0)) + " " + text::percent(busy[order[0]]) + ", " + word(1) + " " +
           text::percent(busy[order[1]]);
}

/// How to cut the keys into more parts: "keys in parallel (split_kv)"; empty where that is not possible.
std::string keys_in_parallel(const LaunchTime& t, const Experiment& e) {
    const Index key_blocks = ceil_div(e.problem.seq_k, e.tiling.bc);
    if (has_splits(e.algorithm->knobs)) {
        const Count by_part = std::max<Count>(1, t.blocks / std::max<Index>(1, e.tiling.splits));
        const Index splits = std::min({ceil_div(e.gpu.sms, by_part), key_blocks, most_splits});
        return splits > e.tiling.splits ? "more parts of the keys (--splits " + std::to_string(splits) + ")" : "";
    }
    const bool short_of_rows = e.problem.seq_q <= e.tiling.br && key_blocks > 1;
    for (const Algorithm& a : algorithms())
        if (short_of_rows && a.computes == e.algorithm->computes && has_splits(a.knobs))
            return std::string("keys in parallel (") + a.name + ')';
    return "";
}

/// "a smaller Br", or, where a thread block has all rows of a head (as in flash_v1), the algorithm that spreads rows
/// over thread blocks; empty where neither makes more thread blocks.
std::string rows_in_parallel(const LaunchTime& t, const Experiment& e) {
    if (e.tiling.br >= e.problem.seq_q) return "";
    if (t.blocks > e.problem.batch_heads()) return e.tiling.br > 16 ? "a smaller Br" : "";
    const Algorithm* by_rows = usual_of(*e.algorithm->computes);
    return by_rows ? std::string("rows in parallel (") + by_rows->name + ')' : "";
}

/// "More heads, a smaller Br or keys in parallel". Backward passes have launches over rows and over keys, or over none.
std::string more_blocks(const std::string& keys, const LaunchTime& t, const Experiment& e) {
    if (e.algorithm->computes == &computation::attention_backward) return "More heads";
    const std::string rows = rows_in_parallel(t, e);
    return "More heads" + (rows.empty() ? "" : ", " + rows) + " or " + (keys.empty() ? "keys in parallel" : keys);
}

/// " 124 of 132 SMs have no thread block: keys in parallel (split_kv) would make more."; empty where every SM has one,
/// or the bound says it already.
std::string idle_sms(const LaunchTime& t, const Experiment& e) {
    if (t.blocks >= e.gpu.sms || t.bound == Bound::blocks) return "";
    if (e.algorithm->computes == &computation::attention_backward) return "";
    const std::string keys = keys_in_parallel(t, e);
    const std::string rows = rows_in_parallel(t, e);
    if (keys.empty() && rows.empty()) return "";
    return " " + text::grouped(e.gpu.sms - t.blocks) + " of " + text::grouped(e.gpu.sms) +
           " SMs have no thread block: " + (keys.empty() ? rows : keys) + " would make more.";
}

/// " 24 thread blocks are left over by full waves: with --splits 8 there would be none."; empty where that costs
/// little, or nothing can be done about it.
std::string left_over(const LaunchTime& t, const Experiment& e) {
    constexpr double much = 0.1;  // of the slots' time in a launch
    if (!has_splits(e.algorithm->knobs) || t.kernel != e.algorithm->name || t.tail < much) return "";
    const Count wave = e.gpu.sms * t.residency.blocks, left = t.blocks % wave, full = t.blocks / wave * wave;
    const Index splits = full / (t.blocks / std::max<Index>(1, e.tiling.splits));
    if (left == 0 || splits < 1) return "";
    return " " + text::counted(left, "thread block") + (left == 1 ? " is" : " are") +
           " left over by full waves: with --splits " + std::to_string(splits) + " there would be none.";
}

std::string about_bound(const LaunchTime& t, Style style, const Experiment& e) {
    const std::string keys = keys_in_parallel(t, e);
    switch (t.bound) {
        case Bound::launch:
            return "Launching takes most of the time: there is too little work in it.";
        case Bound::blocks:
            if (2 * t.blocks >= e.gpu.sms * t.residency.blocks)  // enough to fill half the slots
                return "Thread blocks are uneven: the longest of " + text::grouped(t.blocks) + " takes " +
                       text::tenths(t.imbalance) + " times the mean, and slots are empty once the others have ended.";
            return "Too few thread blocks: " + text::grouped(t.blocks) + " for " + text::grouped(e.gpu.sms) +
                   " SMs with room for " + std::to_string(t.residency.blocks) + " each. " + more_blocks(keys, t, e) +
                   " would make more.";
        case Bound::dependency:
            return "No unit is at work all the time (" + busiest(t.busy) +
                   "): the phases of a loop step wait for each other. More thread blocks on an SM, or warps that take "
                   "turns, would hide more of it.";
        default: {
            const auto unit = static_cast<Unit>(static_cast<int>(t.bound) - static_cast<int>(Bound::tensor));
            const double of_a_step =
                unit < Unit::l2 ? t.step.busy[static_cast<std::size_t>(unit)] : std::max(t.step.memory, t.step.bus);
            const double share =
                static_cast<double>(t.residency.blocks) * of_a_step / t.step.together(t.residency.blocks);
            const double lost = unit < Unit::l2 ? constants_of(style).eta : 1;
            return std::string("The limit is ") + in_words(unit) + ", at work " + text::percent(share) +
                   " of the time while the SMs are full" +
                   (lost > 1 && t.residency.blocks > 1 ? "; what thread blocks lose by contending for it makes that " +
                                                             text::percent(std::min(1.0, share * lost))
                                                       : "") +
                   ".";
        }
    }
}

/// The name of the preset alone would say that this very machine was measured.
const char* with_other_numbers(const GpuSpec& gpu) { return is_changed_preset(gpu) ? " with other numbers" : ""; }

/// " (16 x 64 and 64 x 128 were)"; empty where no tile was, of these dimensions.
std::string others(const Experiment& e) {
    std::vector<std::string> tiles;
    for (const Tiling& t : compiled_tiles(e)) tiles.push_back(std::to_string(t.br) + " x " + std::to_string(t.bc));
    return tiles.empty() ? "" : " (" + text::listed(tiles) + (tiles.size() == 1 ? " was)" : " were)");
}

}  // namespace

const char* in_words(Unit unit) {
    static constexpr std::array<const char*, unit_count> words{
        "tensor cores", "fp32 units", "exponential units", "other arithmetic", "shared memory", "L2", "DRAM"};
    return words[static_cast<std::size_t>(unit)];
}

std::string verdict(const LaunchTime& t, Style style, const Experiment& e) {
    const std::string untimed = untimed_pages(e.problem);
    return about_bound(t, style, e) + idle_sms(t, e) + left_over(t, e) + (untimed.empty() ? "" : ' ' + untimed);
}

std::string verdict(const RunTime& run, const Experiment& e) {
    const std::string why = why_infeasible(run);
    return (why.empty() ? "" : "As modelled, " + why + ". ") +
           (run.launches.size() > 1 ? "Longest launch: " + run.longest().kernel + ". " : "") +
           verdict(run.longest(), run.style, e);
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
    return "The time is warm, of a kernel that runs again and again: " +
           (kept < nearly_all_kept
                ? text::percent(kept) + " of what it touches, " + text::bytes(r.hbm_footprint) + ", stays"
                : "what it touches, " + text::bytes(r.hbm_footprint) + ", stays") +
           " in the L2. DRAM traffic is " + std::string(cold_traffic) + "; DRAM is at work for " +
           text::percent(us_at_dram(*r.time) / r.time->us()) + " of the time.";
}

bool was_measured(const GpuSpec& gpu) {
    // The devices of docs/measured; tests/device/measurements_test.cpp compares.
    static const GpuSpec measured[] = {gpu_preset("H100-SXM"), gpu_preset("H200")};
    return std::any_of(std::begin(measured), std::end(measured),
                       [&](const GpuSpec& g) { return same_machine(g, gpu); });
}

const char* beyond_kernels(const Problem& p) {
    if (p.mask.hides() && !p.mask.is_causal()) return "such a mask";
    for (const Feature f : {Feature::pages, Feature::bias, Feature::alibi, Feature::soft_cap, Feature::dropout,
                            Feature::score_types, Feature::passes})
        if (p.uses(f)) return name_of(f);
    return nullptr;
}

std::string about_cut_tile(const Experiment& e) {
    const Tiling full = kernel_tiles(e);
    const auto size = [](const Tiling& t) { return std::to_string(t.br) + " x " + std::to_string(t.bc); };
    return full == e.tiling ? "" : size(e.tiling) + " as " + size(full);
}

namespace {

std::string basis_of_style(const RunTime& run, const Experiment& e) {
    const std::string style = "Modelled, for " + std::string(name_of(run.style));
    switch (run.basis) {
        case Basis::own_style:
            return style + ": " + text::percent(run.error->mean) + " off on average, " +
                   text::percent(run.error->worst) + " at worst, of the measured kernels of " + e.algorithm->name + ".";
        case Basis::other_style:
            if (const char* what = beyond_kernels(e.problem))
                return style + ": no kernel with " + what + " was measured.";
            if (e.algorithm->kernel->stated_error(run.style))
                return style + ": no kernel of " + e.algorithm->name + " with these tiles was measured" + others(e) +
                       ".";
            return style + " as flash_v2's kernel uses them: this algorithm has no such kernel to measure.";
        case Basis::assumed:
            break;
    }
    if (e.gpu.compute_capability == "none") return style + " of a machine that does not exist: its rates are made up.";
    if (e.gpu.mma_flops_per_clk)
        return style + "; no kernel was measured on " + e.gpu.name + with_other_numbers(e.gpu) +
               ": its times are assumed, and how far off they are is not known.";
    return style + "; " + e.gpu.name +
           " was not calibrated: its rates are the data sheet's, which kernels do not reach, so compare it with none "
           "that was.";
}

}  // namespace

std::string basis(const RunTime& run, const Experiment& e) {
    const std::string cut = about_cut_tile(e);
    return basis_of_style(run, e) +
           (cut.empty() ? "" : " The problem cuts the kernel's tile, which is timed: " + cut + '.');
}

}  // namespace tilescope::lab
