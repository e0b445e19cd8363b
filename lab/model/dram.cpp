#include "lab/model/dram.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/machine/mistakes.hpp"
#include "core/text/message.hpp"
#include "lab/model/placing.hpp"
#include "lab/workload/paging.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr double unevenness = 0.05;  // how much the times of equal blocks differ; at 0, waves stay in step for ever
constexpr double repeats = 0.025;    // uncertain share of the traffic: with more, extrapolation is not within 1%

/// Visits of tiles in HBM by all heads.
double visits_of(const LaunchOutline& launch) {
    double visits = 0;
    for (const BlockOutline& b : launch.blocks)
        for (const Passage& p : b.passages)
            visits += static_cast<double>(p.total) *
                      static_cast<double>(
                          std::count_if(p.deeds.begin(), p.deeds.end(), [](const Deed& d) { return d.moves_data(); }));
    return visits;
}

double heads_of(const LaunchOutline& launch) { return static_cast<double>(launch.axes[0].tiles.count()); }

}  // namespace

DramModel::DramModel(const Report& counted, const Outline& outline, double at_most)
    : report_(counted), outline_(outline), at_most_(at_most) {
    if (report_.experiment.gpu.l2_bytes > 0) find_accesses();
}

void DramModel::find_accesses() {
    double of_a_head = 0;
    for (const LaunchOutline& l : outline_.launches()) of_a_head += visits_of(l) / heads_of(l);
    if (of_a_head > at_most_) {
        why_not_ = message("dram.too_many_visits", static_cast<Count>(at_most_));
        return;
    }
    const Experiment& e = report_.experiment;
    Mode exact = exact_mode;
    exact.only_wanted = true;
    // Mistakes of a program are reported by the runs that check for them.
    try {
        Gpu gpu(e.gpu, exact, 1);
        gpu.listen(accesses_);
        run_program(gpu, *e.algorithm, e.problem, e.tiling, {});
    } catch (const BrokenPromise&) {
        accesses_ = Accesses(), why_not_ = message("dram.broken_promise");
    } catch (const Race&) {
        accesses_ = Accesses(), why_not_ = message("dram.race");
    }
}

std::optional<DramModel::Traffic> DramModel::of(std::size_t k, const Kinds& kinds, Index slots, Refill refill) {
    const GpuSpec& gpu = report_.experiment.gpu;
    if (gpu.l2_bytes == 0) {
        const Counters c = counted(k);
        // A reduction reads and writes DRAM.
        const DramTraffic all = {c.hbm_read + c.hbm_reduce, c.hbm_sent()};
        return Traffic{all, all};
    }
    if (accesses_.launches().empty()) return std::nullopt;
    const LaunchAccesses& head = accesses_.launches()[k];
    // A run whose tensors are larger than the L2 finds none of its data there when it is repeated.
    const bool stays = report_.hbm_footprint <= gpu.l2_bytes;
    if (const auto once = without_misses(head, sharing_of(head), l2_of(gpu)))
        return Traffic{*once, stays ? DramTraffic{} : *once};
    if (visits_of(outline_.launches()[k]) > at_most_) {
        if (const auto all = passing_through(head, sharing_of(head), l2_of(gpu), gpu.sms * slots))
            return Traffic{*all, *all};
        if (const auto traffic = folded(k, kinds(), slots, refill)) return Traffic{*traffic, *traffic};
        why_not_ = message("dram.heads_differ", static_cast<Count>(at_most_));
        return std::nullopt;
    }
    Traffic traffic;
    traffic.first = play_heads(k, head.heads, kinds(), slots, refill, stays ? &traffic.again : nullptr);
    if (!stays) traffic.again = traffic.first;
    return traffic;
}

/// `again`, where not null, gets the traffic of playing the heads a second time, with the L2 as the first time left it.
DramTraffic DramModel::play_heads(std::size_t k, Index heads, const std::vector<BlockCycles>& kinds, Index slots,
                                  Refill refill, DramTraffic* again, std::span<Mark> marks) const {
    const GpuSpec& gpu = report_.experiment.gpu;
    std::vector<Axis> axes = outline_.launches()[k].axes;
    axes[0] = uniform(heads);
    const std::vector<BlockOfHead> order =
        dispatch(axes, order_of(report_.experiment), heads_in_l2(report_.experiment));
    Grid grid{kinds, {}};
    for (const BlockOfHead& b : order) grid.sequence.push_back(b.block);
    const Timeline timeline = play(grid, gpu.sms, slots, refill, unevenness);
    const LaunchAccesses& head = accesses_.launches()[k];
    const std::vector<Sharing> sharing = sharing_of(head);
    std::vector<Cache> caches = caches_for(l2_of(gpu), head.tiles.size() * static_cast<std::size_t>(heads));
    const DramTraffic first = play(head, sharing, order, timeline.stays, caches, marks);
    if (again) *again = play(head, sharing, order, timeline.stays, caches);
    return first;
}

std::optional<Index> DramModel::period(std::size_t k) const {
    const LaunchOutline& launch = outline_.launches()[k];
    const LaunchAccesses& head = accesses_.launches()[k];
    const Order order = order_of(report_.experiment);
    // Only launches that run head by head repeat. Part 2 of the keys follows part 1 of all heads, and other orders
    // start with a block of each head.
    const bool by_head = order == Order::kernel || order == Order::rows || order == Order::snake;
    if (!by_head || (launch.axes.size() > 2 && launch.axes[2].tiles.count() > 1)) return std::nullopt;
    Index heads = order == Order::snake ? 2 : 1;
    // A period holds whole groups of heads that share a slice; where sequences share slices, whole sequences. Tensors
    // that all heads share do not matter.
    for (const Sharing& s : sharing_of(head)) {
        const Index of_a_sequence = s.heads * s.slices;
        const Index together = s.round > 0 ? s.round : of_a_sequence < head.heads ? of_a_sequence : s.heads;
        if (together < head.heads) heads = std::lcm(heads, together);
    }
    return heads;
}

namespace {

/// The number of periods, rounded down to whole waves of thread blocks: the blocks of a wave start and end at about the
/// same time, so the parts of a wave differ. Less than a wave is not rounded.
Index whole_waves(Index periods, Index blocks, Index wave) {
    const Index waves = periods * blocks / wave;
    return waves == 0 ? periods : std::max<Index>(1, (waves * wave + blocks / 2) / blocks);
}

}  // namespace

std::optional<DramTraffic> DramModel::folded(std::size_t k, const std::vector<BlockCycles>& kinds, Index slots,
                                             Refill refill) const {
    const LaunchOutline& launch = outline_.launches()[k];
    const auto period = this->period(k);
    if (!period) return std::nullopt;
    const auto periods = static_cast<Index>(at_most_ / (visits_of(launch) / heads_of(launch))) / *period;
    const auto blocks = static_cast<std::size_t>(*period * accesses_.launches()[k].blocks);
    const Index quarter = whole_waves(periods / 4, static_cast<Index>(blocks), report_.experiment.gpu.sms * slots),
                heads = periods * *period;
    // The first periods fill the L2. Less than a wave of blocks leaves SMs idle, and their part of the L2 to others.
    Mark marks[3] = {};
    for (Index n = 0; n < 3; ++n) marks[n].started = static_cast<std::size_t>(periods - (2 - n) * quarter) * blocks;
    // Two single periods may be equal by chance, which says little about many more.
    const bool enough = quarter > 1 || (quarter == 1 && heads_of(launch) <= 2 * static_cast<double>(heads));
    if (!enough || static_cast<Index>(marks[0].started) < report_.experiment.gpu.sms * slots) return std::nullopt;
    const DramTraffic played = play_heads(k, heads, kinds, slots, refill, nullptr, marks);
    const double more = (heads_of(launch) - static_cast<double>(heads)) / static_cast<double>(quarter * *period);
    // Dirty bytes at the end belong to the run, not to a head: there are as many as after the heads that were played.
    const auto extrapolated = [&](Bytes played_bytes, auto&& bytes, double uncertain,
                                  Bytes at_most) -> std::optional<Bytes> {
        const auto before = static_cast<double>(bytes(marks[1]) - bytes(marks[0])),
                   added = static_cast<double>(bytes(marks[2]) - bytes(marks[1]));
        const double all = static_cast<double>(played_bytes) + more * (before + added) / 2;
        if (more * std::abs(added - before) + uncertain > repeats * all) return std::nullopt;
        return std::min<Bytes>(std::llround(all), at_most);
    };
    const Counters sm = counted(k);
    const auto dirty = static_cast<double>(marks[2].dirty - marks[1].dirty);
    const auto read = extrapolated(
        played.read, [](const Mark& m) { return m.dram.read; }, 0, sm.hbm_read);
    const auto written = extrapolated(
        played.written, [](const Mark& m) { return m.written(); }, std::abs(dirty), sm.hbm_sent());
    if (!read || !written) return std::nullopt;
    return DramTraffic{*read, *written};
}

std::vector<Sharing> DramModel::sharing_of(const LaunchAccesses& head) const {
    const Experiment& e = report_.experiment;
    const std::vector<TensorDecl> tensors = e.algorithm->tensors(e.problem, e.tiling);
    std::vector<Sharing> sharing;
    for (const HbmTile& tile : head.tiles) {
        const TensorDecl& t = tensors[tile.tensor];
        const bool by_all = t.in_pages && tile.rows.end() <= shared_keys(e.problem).end();
        const Index heads = head.heads;  // of Q; or, on kv_axis(), of K and V
        if (t.round > 0)
            sharing.push_back({t.heads_per_slice, t.slices, t.round, t.slices * t.round / heads});
        else
            sharing.push_back(
                {std::max<Index>(1, heads / t.slices), by_all ? e.problem.kv_heads : std::min(t.slices, heads)});
    }
    return sharing;
}

Counters DramModel::counted(std::size_t k) const {
    Counters sum;
    for (const BlockOutline& b : outline_.launches()[k].blocks)
        for (const Passage& p : b.passages)
            for (const Deed& d : p.deeds) sum.add(d.cost, p.total);
    return sum;
}

}  // namespace tilescope::lab
