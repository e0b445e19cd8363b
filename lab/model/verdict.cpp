#include "lab/model/verdict.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/machine/sorted.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/model/bound.hpp"
#include "lab/model/laned_verdict.hpp"
#include "lab/model/published_tiles.hpp"
#include "lab/workload/paging.hpp"
#include "lab/workload/splits.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// The two units that are busiest: "tensor cores 50%, shared memory 48%".
std::string busiest(const PerUnit& busy) {
    const auto order = stable_order(unit_count, [&](std::size_t a, std::size_t b) { return busy[a] > busy[b]; });
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

/// "With --heads 128 every SM has row blocks for a while: ...": twice as many heads as often as it takes to fill all
/// slots four times. Empty where the kernel has no lanes to be told of.
std::string heads_that_show_lanes(const LaunchTime& t, const Experiment& e) {
    constexpr Count waves = 4;
    if (!t.lanes || e.problem.mask.hides()) return "";
    Index times = 1;
    while (t.blocks * times < waves * e.gpu.sms * t.residency.blocks) times *= 2;
    return message("verdict.heads_for_lanes", std::to_string(e.problem.heads * times));
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
    if (t.lanes && t.bound != Bound::launch && t.bound != Bound::blocks) return verdict_of(*t.lanes);
    switch (t.bound) {
        case Bound::launch:
            return message("verdict.launching");
        case Bound::blocks:
            if (2 * t.blocks >= e.gpu.sms * t.residency.blocks)  // enough to fill half the slots
                return message("verdict.uneven_blocks", t.blocks, text::tenths(t.imbalance));
            return text::sentences({message("verdict.few_blocks", t.blocks, e.gpu.sms, t.residency.blocks),
                                    more_blocks(keys, t, e), heads_that_show_lanes(t, e)});
        case Bound::dependency:
            return message("verdict.no_unit_all_the_time", busiest(t.busy));
        default: {
            const Unit unit = unit_of(t.bound);
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

std::string about_persistent(const RunTime& run) {
    const LaunchTime& t = run.longest();
    if (t.persistent == 0) return "";
    const double each = static_cast<double>(t.blocks) / static_cast<double>(t.persistent);
    return message("verdict.persistent", t.persistent, t.blocks, text::tenths(each));
}

}  // namespace tilescope::lab
