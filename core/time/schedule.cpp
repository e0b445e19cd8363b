#include "core/time/schedule.hpp"

#include <algorithm>

namespace tilescope {
namespace {

/// What one SM does in one tick: steps [first, last) of the recording.
struct Turn {
    Index first, last;
};

struct BlockTurns {
    Index launch, block;
    std::vector<Turn> turns;
};

/// Cuts the steps of a thread block into turns. A turn ends with an operation, or where a line begins after one that
/// only made tiles; what is given back at the end of the block is a turn of its own.
std::vector<Turn> turns_of(const Trace& t, Index first, Index last) {
    std::vector<Turn> turns;
    Index begin = first;
    bool makes_tiles = false;
    for (Index s = first; s < last; ++s) {
        const Step& step = t[s];
        if (makes_tiles && step.enters_line) {
            turns.push_back({begin, s});
            begin = s, makes_tiles = false;
        }
        makes_tiles |= step.kind() == Kind::alloc;
        if (works(step.kind())) {
            turns.push_back({begin, s + 1});
            begin = s + 1, makes_tiles = false;
        }
    }
    if (begin < last) turns.push_back({begin, last});
    return turns;
}

/// The blocks of a recording that begin at step `s`, up to the next launch.
std::vector<BlockTurns> blocks_of_launch(const Trace& t, Index s) {
    std::vector<BlockTurns> blocks;
    while (s < t.size() && t[s].kind() != Kind::launch) {
        const Index block = t[s].event.block, launch = t[s].launch;
        Index last = s + 1;
        while (last < t.size() && t[last].kind() != Kind::launch && t[last].kind() != Kind::block_begin) ++last;
        blocks.push_back({launch, block, turns_of(t, s, last)});
        s = last;
    }
    return blocks;
}

}  // namespace

Schedule::Schedule(Trace recording, Index sms) : ends_{0} {
    std::vector<Index> order;
    order.reserve(static_cast<std::size_t>(recording.size()));
    for (Index s = 0; s < recording.size();) {
        // The launch is a tick of its own.
        order.push_back(s);
        ends_.push_back(static_cast<Index>(order.size()));
        const std::vector<BlockTurns> blocks = blocks_of_launch(recording, s + 1);

        struct Lane {
            std::size_t placement = 0;  // index into placements_
            const BlockTurns* block = nullptr;
            std::size_t turn = 0;
        };
        std::vector<Lane> lanes(std::min(static_cast<std::size_t>(std::max<Index>(sms, 1)), blocks.size()));
        std::size_t next = 0, running = 0;
        do {
            const Index tick = ticks();
            running = 0;
            for (std::size_t sm = 0; sm < lanes.size(); ++sm) {
                Lane& lane = lanes[sm];
                if (!lane.block && next < blocks.size()) {
                    lane = {placements_.size(), &blocks[next++], 0};
                    if (by_sm_.size() <= sm) by_sm_.resize(sm + 1);
                    by_sm_[sm].push_back(placements_.size());
                    placements_.push_back({lane.block->launch, lane.block->block, static_cast<Index>(sm), tick, tick});
                }
                if (!lane.block) continue;
                ++running;
                const Turn turn = lane.block->turns[lane.turn++];
                for (Index k = turn.first; k < turn.last; ++k) order.push_back(k);
                if (lane.turn == lane.block->turns.size()) {
                    placements_[lane.placement].last_tick = tick + 1;
                    lane.block = nullptr;
                }
            }
            if (running > 0) ends_.push_back(static_cast<Index>(order.size()));
        } while (running > 0);
        for (++s; s < recording.size() && recording[s].kind() != Kind::launch;) ++s;
    }
    trace_ = std::make_unique<const Trace>(std::move(recording).reordered(order));
}

Index Schedule::tick_of(Index step) const { return std::upper_bound(ends_.begin(), ends_.end(), step) - ends_.begin(); }

std::span<const Placement> Schedule::placements_of(Index launch) const {
    const auto begin = placements_.begin();
    const auto before = [&](Index l) {
        return static_cast<std::size_t>(
            std::partition_point(begin, placements_.end(), [&](const Placement& p) { return p.launch < l; }) - begin);
    };
    const std::size_t first = before(launch);
    return std::span(placements_).subspan(first, before(launch + 1) - first);
}

const Placement* Schedule::placement_of(Index launch, Index block) const {
    const auto all = placements_of(launch);
    const auto found =
        std::partition_point(all.begin(), all.end(), [&](const Placement& p) { return p.block < block; });
    return found != all.end() && found->block == block ? &*found : nullptr;
}

const Placement* Schedule::at(Index sm, Index tick) const {
    if (sm >= sms_used()) return nullptr;
    const auto& mine = by_sm_[static_cast<std::size_t>(sm)];
    // Ticks count from 1 for those who look back at them; a placement's from 0.
    const auto after =
        std::partition_point(mine.begin(), mine.end(), [&](std::size_t p) { return placements_[p].last_tick < tick; });
    if (after == mine.end()) return nullptr;
    const Placement& p = placements_[*after];
    return p.first_tick < tick ? &p : nullptr;
}

}  // namespace tilescope
