#include "lab/model/timed_launch.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "core/machine/fold.hpp"

namespace tilescope::lab {
namespace {

bool is_used(const BlockOutline& block, TileId tile) {
    return std::any_of(block.passages.begin(), block.passages.end(), [&](const Passage& p) {
        return std::any_of(p.deeds.begin(), p.deeds.end(), [&](const Deed& d) { return d.uses(tile); });
    });
}

/// The loads that the first loop begins with: no earlier step can hide them. They are one load of data and, before it,
/// loads of page table entries, which no operation uses.
std::span<const Deed> first_loads(const BlockOutline& block) {
    for (const Passage& p : block.passages) {
        if (p.loop < 0 || p.deeds.empty() || p.deeds[0].kind() != Kind::load) continue;
        std::size_t n = 1;
        while (n < p.deeds.size() && p.deeds[n].kind() == Kind::load && !is_used(block, p.deeds[n - 1].out.id)) ++n;
        return std::span(p.deeds).first(n);
    }
    return {};
}

/// Adds a load or a store that no step hides. Further thread blocks add nothing where each warp has its own softmax,
/// because warps do not wait for each other, or on CUDA cores, because their constants were fitted without it.
void add_unhidden(TimedBlock& t, const Deed& d, const Kernel& kernel, const Rates& rates, const LaunchMemory& memory) {
    const double alone = static_cast<double>(d.cost.hbm()) / rates.bus;
    t.fixed += alone;
    if (kernel.style == Style::cuda_cores || kernel.own_softmax) return;
    // The L2 takes in what is written, and sends it to DRAM later.
    const double read = static_cast<double>(d.cost.hbm_read), written = static_cast<double>(d.cost.hbm_sent());
    t.unhidden.memory +=
        memory.sharing * (read * std::max(1 / memory.l2, memory.first_missed / memory.dram_read) + written / memory.l2);
    t.unhidden.bus += alone;
}

bool computes(const Passage& p) {
    return std::any_of(p.deeds.begin(), p.deeds.end(), [](const Deed& d) { return !d.moves_data(); });
}

/// The step of a loop. No more iterations are loaded together than the loop has. A loop that only moves data does so
/// while other loops compute: it takes an SM's share of L2 and DRAM, and adds no latency.
StepTime step_of_loop(const Passage& p, Kernel kernel, const Rates& rates, const MemoryShare& memory, Count blocks,
                      const Cut& cut) {
    kernel.together = std::clamp<Index>(p.total / blocks, 1, kernel.together);
    const StepTime whole = step_of(p.deeds, kernel, rates, memory, cut);
    if (computes(p)) return whole;
    StepTime moves;
    moves.busy = whole.busy, moves.memory = whole.memory, moves.bus = whole.bus;
    return moves;
}

/// A thread's elements of the tile of scores, which is the largest tile that a loop reduces.
double scores_of_a_thread(const BlockOutline& block, const Kernel& kernel) {
    constexpr double threads = 32;  // of a warp
    double most = 0;
    for (const Passage& p : block.passages)
        for (const Deed& d : p.deeds)
            if (p.loop >= 0 && d.kind() == Kind::reduce) most = std::max(most, d.reads[0].size());
    return most / (threads * static_cast<double>(kernel.warps));
}

TimedBlock timed(const BlockOutline& block, const Kernel& kernel, const Rates& rates, const LaunchMemory& memory,
                 const Cut& cut) {
    TimedBlock t{&block, {}};
    const bool loops = block.passages.size() > 1;
    t.fixed = constants_of(kernel.style).block;
    for (const Deed& d : first_loads(block)) add_unhidden(t, d, kernel, rates, memory);
    if (kernel.looks_up) t.looking = constants_of(kernel.style).look_up * scores_of_a_thread(block, kernel);
    Index before = -1;
    for (const Passage& p : block.passages) {
        const bool outside = p.loop < 0;
        // Tensor cores compute fragments of a full tile: the ragged iteration that follows takes as long.
        const bool follows = !outside && p.loop == std::exchange(before, p.loop);
        if (follows && kernel.style == Style::tensor_cores) {
            t.steps.push_back(t.steps.back());
            continue;
        }
        if (outside && loops)
            for (const Deed& d : p.deeds) add_unhidden(t, d, kernel, rates, memory);
        t.steps.push_back(!outside ? step_of_loop(p, kernel, rates, memory, block.blocks, cut)
                          : loops  ? StepTime{}
                                   : once(p.deeds, kernel, rates, memory, cut));
    }
    return t;
}

/// Whether thread blocks see more or less of the inner range, by their position on the axis.
bool sees_by_place(const Axis& a) { return a.promise == Promise::graded && !a.seen->all(); }

}  // namespace

Index rows_at_once(const BlockOutline& block) {
    Index most = 0;
    for (const Passage& p : block.passages) most = std::max(most, tilescope::rows_at_once(p.deeds));
    return most;
}

Count TimedLaunch::blocks() const {
    return std::accumulate(outline_.blocks.begin(), outline_.blocks.end(), Count{0},
                           [](Count sum, const BlockOutline& b) { return sum + b.blocks; });
}

Count TimedLaunch::reading() const {
    const auto reads = [](const Passage& p) {
        return std::any_of(p.deeds.begin(), p.deeds.end(), [](const Deed& d) { return d.cost.hbm_read > 0; });
    };
    Count sum = 0;
    for (const BlockOutline& b : outline_.blocks)
        if (std::any_of(b.passages.begin(), b.passages.end(), reads)) sum += b.blocks;
    return sum;
}

void TimedLaunch::take(const LaunchMemory& memory) {
    blocks_.clear();
    found_ = 0;
    for (const BlockOutline& b : outline_.blocks) {
        blocks_.push_back(lanes_ ? timed_by_lanes(b) : timed(b, kernel_, rates_, memory, cut_of(b)));
        if (const auto seen = seen_at(outline_.axes, b.at.data()))
            blocks_.back().sees = seen->count() > 0, blocks_.back().sees_full = seen->full() > 0;
    }
}

TimedBlock TimedLaunch::timed_by_lanes(const BlockOutline& b) const {
    TimedBlock t{&b, {}};
    for (const Passage& p : b.passages) t.steps.push_back(p.loop < 0 ? StepTime{} : step_);
    return t;
}

bool TimedLaunch::all_alike() const {
    return blocks_.size() == 1 && std::none_of(outline_.axes.begin(), outline_.axes.end(), [](const Axis& a) {
               return sees_by_place(a) || a.promise == Promise::parts;
           });
}

bool TimedLaunch::waits_for_memory(Index slots) const {
    const auto waits = [&](const StepTime& s) { return s.waits_for_memory(slots); };
    return std::any_of(blocks_.begin(), blocks_.end(),
                       [&](const TimedBlock& b) { return std::any_of(b.steps.begin(), b.steps.end(), waits); });
}

bool TimedLaunch::graded() const { return std::any_of(outline_.axes.begin(), outline_.axes.end(), sees_by_place); }

bool TimedLaunch::in_waves() const {
    if (all_alike()) return true;
    if (graded()) return false;
    constexpr double about = 0.8;  // of the longest
    double shortest = std::numeric_limits<double>::infinity(), longest = 0;
    each_block([&](const TimedBlock& b, const Place& place) {
        const double cycles = cycles_of(b, place, 1)[0];
        shortest = std::min(shortest, cycles), longest = std::max(longest, cycles);
    });
    return shortest >= about * longest;
}

BlockWork TimedLaunch::work(std::uint32_t block) const {
    if (all_alike()) return first();
    std::vector<Span> at{outline_.axes[0].tiles[0]};
    if (outline_.axes.size() > 1) at.push_back(outline_.axes[1].tiles[block / count(2)]);
    if (outline_.axes.size() > 2) at.push_back(outline_.axes[2].tiles[block % count(2)]);
    const Place place = place_of(std::move(at));
    return work_of(alike(place), place);
}

std::vector<BlockCycles> TimedLaunch::cycles(Index slots) const {
    std::vector<BlockCycles> kinds;
    kinds.reserve(static_cast<std::size_t>(count(1) * count(2)));
    each_block([&](const TimedBlock& b, const Place& place) { kinds.push_back(cycles_of(b, place, slots)); });
    return kinds;
}

std::vector<BlockWork> TimedLaunch::works() const {
    std::vector<BlockWork> kinds;
    each_block([&](const TimedBlock& b, const Place& place) { kinds.push_back(work_of(b, place)); });
    return kinds;
}

double TimedLaunch::sum_of_cycles(Index slots) const {
    double sum = 0;
    for (const TimedBlock& b : blocks_) {
        sum += (b.fixed + b.unhidden.beside(slots, 1)) * static_cast<double>(b.outline->blocks);
        for (std::size_t k = 0; k < b.steps.size(); ++k)
            sum += static_cast<double>(b.outline->passages[k].total) * b.steps[k].together(slots);
    }
    return sum;
}

Cut TimedLaunch::cut_of(const BlockOutline& b) const {
    const Index at_once = rows_at_once(b);
    return b.at.size() > 1 ? Cut{b.at[1].size, full_, at_once} : Cut{0, full_, std::max(at_once, full_)};
}

TimedLaunch::Place TimedLaunch::place_of(std::vector<Span> at) const {
    std::optional<Tiles> seen = seen_at(outline_.axes, at.data());
    return {std::move(at), std::move(seen)};
}

template <class F>
void TimedLaunch::each_block(F&& f) const {
    Place place;
    for (const Axis& a : outline_.axes) place.at.push_back(a.tiles[0]);
    for (Index i = 0; i < count(1); ++i)
        for (Index j = 0; j < count(2); ++j) {
            if (place.at.size() > 1) place.at[1] = outline_.axes[1].tiles[i];
            if (place.at.size() > 2) place.at[2] = outline_.axes[2].tiles[j];
            place.seen = seen_at(outline_.axes, place.at.data());
            f(alike(place), place);
        }
}

const TimedBlock& TimedLaunch::alike(const Place& place) const {
    const auto& [at, seen] = place;
    const bool sees = seen && seen->count() > 0, sees_full = seen && seen->full() > 0;
    const auto same = [&, &at = at](const TimedBlock& b, bool in_full) {
        for (std::size_t k = 0; k < at.size(); ++k) {
            const Span other = b.outline->at[k];
            if (outline_.axes[k].promise == Promise::none ? other != at[k] : other.size != at[k].size) return false;
        }
        return b.sees == sees && (!in_full || b.sees_full == sees_full);
    };
    const auto find = [&](auto begin, bool in_full) {
        return std::find_if(begin, blocks_.end(), [&](const auto& b) { return same(b, in_full); });
    };
    // Without a promise every block stands for itself, and callers ask for the blocks in their order.
    const bool each = at.size() > 1 && outline_.axes[1].promise == Promise::none;
    if (const auto next = find(blocks_.begin() + (each ? found_ : 0), true); next != blocks_.end()) {
        found_ = next - blocks_.begin();
        return *next;
    }
    if (const auto found = find(blocks_.begin(), true); found != blocks_.end()) return *found;
    const auto found = find(blocks_.begin(), false);
    return found != blocks_.end() ? *found : blocks_.back();
}

TimedLaunch::Visits TimedLaunch::visits(const Place& place) const {
    Visits v;
    for (std::size_t k = 0; k < place.at.size(); ++k)
        if (const Axis& a = outline_.axes[k]; a.promise == Promise::graded) {
            v.crossed = static_cast<double>(a.seen->partial(place.at[k], *place.seen));
            v.full = static_cast<double>(place.seen->full());
            v.ragged = place.seen->ragged() ? 1 : 0;
        }
    return v;
}

BlockWork TimedLaunch::work_of(const TimedBlock& block, const Place& place) const {
    if (lanes_) {
        const auto [loop, fixed, turns, masked] = by_lanes(block, place);
        BlockWork out{place.at, fixed, {}, {}};
        if (loop) out.loops.push_back({loop->loop, turns, masked, step_});
        return out;
    }
    const auto [full, ragged, crossed] = visits(place);
    BlockWork out{place.at, block.fixed, {}, block.unhidden};
    for (std::size_t k = 0; k < block.steps.size(); ++k) {
        const Passage& p = block.outline->passages[k];
        const bool by_full = p.per == Passage::Per::full_tile;
        const auto each = static_cast<double>(p.each);
        const double alone = block.steps[k].alone, looking = alone > 0 ? block.looking / alone : 0;
        const double masked = crossed * (constants_of(kernel_.style).mask + looking);
        const double turns = by_full ? (full + masked) * each
                             : p.per == Passage::Per::ragged_tile
                                 ? ragged * each
                                 : static_cast<double>(p.total) / static_cast<double>(block.outline->blocks);
        out.loops.push_back({p.loop, turns, by_full ? masked * each : 0, block.steps[k]});
    }
    return out;
}

BlockCycles TimedLaunch::cycles_of(const TimedBlock& block, const Place& place, Index slots) const {
    if (!lanes_) return work_of(block, place).cycles(slots);
    const Laned b = by_lanes(block, place);
    BlockCycles cycles;
    cycles.reserve(static_cast<std::size_t>(slots));
    for (Index r = 1; r <= slots; ++r) cycles.push_back(b.fixed + (b.loop ? b.turns * step_.together(r) : 0));
    return cycles;
}

/// A ragged key tile takes as long as a full one, and a tile that the mask crosses a part of a step more. A block of an
/// axis that promises nothing stands for itself, and has its own turns.
TimedLaunch::Laned TimedLaunch::by_lanes(const TimedBlock& block, const Place& place) const {
    const auto [full, ragged, crossed] = visits(place);
    const double masked = crossed * constants_of(kernel_.style).mask;
    const Passage* loop = nullptr;
    Count turns = 0;
    for (const Passage& p : block.outline->passages)
        if (p.loop >= 0) loop = &p, turns += p.total;
    if (!loop) return {nullptr, lanes_->fixed(0), 0, 0};
    const double steps =
        place.seen ? full + ragged : static_cast<double>(turns) / static_cast<double>(block.outline->blocks);
    return {loop, lanes_->fixed(steps), steps + masked, masked};
}

}  // namespace tilescope::lab
