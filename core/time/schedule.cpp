#include "core/time/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/machine/sorted.hpp"
#include "core/time/lanes.hpp"

namespace tilescope {
namespace {

/// What one SM does in one tick: steps [first, last) of the recording.
struct SmTurn {
    Index first, last;
};

struct BlockTurns {
    Index launch, block;
    std::vector<SmTurn> turns;
};

/// Cuts the steps of a thread block into turns. A turn ends with an operation, or where a new line begins after a line
/// that only made tiles. What is released at the end of the block is a turn of its own.
std::vector<SmTurn> turns_of(const Trace& t, Index first, Index last) {
    std::vector<SmTurn> turns;
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

/// The stays if every turn takes one cycle, and an SM has one thread block at a time.
std::vector<Stay> one_turn_a_tick(const std::vector<BlockTurns>& blocks, Index sms) {
    Grid grid;
    for (const BlockTurns& b : blocks) {
        grid.sequence.push_back(static_cast<std::uint32_t>(grid.kinds.size()));
        grid.kinds.push_back({static_cast<double>(b.turns.size())});
    }
    return play(grid, std::min(sms, static_cast<Index>(blocks.size())), 1, Refill::packed).stays;
}

/// For each SM its blocks, in the order in which they start.
std::vector<std::vector<std::size_t>> lanes_of(const std::vector<BlockTurns>& blocks, Index sms,
                                               const Schedule::Stays& known) {
    std::vector<Stay> stays;
    for (const BlockTurns& b : blocks)
        if (const auto stay = known ? known(b.launch, b.block) : std::nullopt) stays.push_back(*stay);
    if (stays.size() < blocks.size()) stays = one_turn_a_tick(blocks, sms);
    std::vector<std::vector<std::size_t>> on_sm;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        if (on_sm.size() <= stays[b].sm) on_sm.resize(stays[b].sm + 1);
        on_sm[stays[b].sm].push_back(b);
    }
    for (auto& lane : on_sm)
        sort_stably(lane, [&](std::size_t a, std::size_t b) { return stays[a].from < stays[b].from; });
    return on_sm;
}

/// Whether a block stores where another block stored. Such blocks took turns, in the order of the recording.
bool take_turns(const Trace& t, const std::vector<BlockTurns>& blocks) {
    std::map<std::tuple<TensorId, Index, Index, Index>, std::size_t> stored;  // the first block that stored there
    for (std::size_t b = 0; b < blocks.size(); ++b)
        for (const SmTurn& turn : blocks[b].turns)
            for (Index s = turn.first; s < turn.last; ++s) {
                const Event& e = t[s].event;
                if (e.operation->effect != Effect::store) continue;
                const Region& r = e.region;
                if (stored.try_emplace({r.tensor, r.slice, r.rows.begin, r.cols.begin}, b).first->second != b)
                    return true;
            }
    return false;
}

/// The first tick of each block, from 0 on: SMs are lanes of one clock, and a turn takes a cycle. `in_turn`: a block
/// waits for the one before.
std::vector<Index> first_ticks(const std::vector<BlockTurns>& blocks,
                               const std::vector<std::vector<std::size_t>>& on_sm, bool in_turn) {
    std::vector<LaneProgram> sms(on_sm.size());
    for (std::size_t sm = 0; sm < on_sm.size(); ++sm)
        for (const std::size_t b : on_sm[sm]) {
            std::vector<Act>& acts = sms[sm].acts;
            const auto done = static_cast<Signal>(b);
            if (in_turn && b > 0) acts.push_back({.kind = Act::Kind::wait, .flag = done - 1});
            acts.push_back({.kind = Act::Kind::mark, .step = static_cast<Index>(b)});
            acts.push_back({.kind = Act::Kind::pass, .cycles = static_cast<double>(blocks[b].turns.size())});
            if (in_turn) acts.push_back({.kind = Act::Kind::set, .flag = done});
        }
    std::vector<Index> first(blocks.size());
    for (const LaneMark& m : play_lanes(sms, {}).marks)
        first[static_cast<std::size_t>(m.step)] = static_cast<Index>(std::lround(m.at));
    return first;
}

}  // namespace

Schedule::Schedule(Trace recording, Index sms, const Stays& stays) : ends_{0} {
    std::vector<Index> order;
    order.reserve(static_cast<std::size_t>(recording.size()));
    for (Index s = 0; s < recording.size();) {
        // The launch is a tick of its own.
        order.push_back(s);
        ends_.push_back(static_cast<Index>(order.size()));
        const std::vector<BlockTurns> blocks = blocks_of_launch(recording, s + 1);
        auto on_sm = lanes_of(blocks, std::max<Index>(sms, 1), stays);
        if (by_sm_.size() < on_sm.size()) by_sm_.resize(on_sm.size());
        const bool in_turn = take_turns(recording, blocks);
        if (in_turn)
            for (auto& lane : on_sm) std::sort(lane.begin(), lane.end());
        const std::vector<Index> first = first_ticks(blocks, on_sm, in_turn);
        const Index begin = ticks();
        const std::size_t before = placements_.size();
        placements_.resize(before + blocks.size());
        for (std::size_t sm = 0; sm < on_sm.size(); ++sm)
            for (const std::size_t b : on_sm[sm]) {
                const Index from = begin + first[b], turns = std::ssize(blocks[b].turns);
                placements_[before + b] = {blocks[b].launch, blocks[b].block, static_cast<Index>(sm), from,
                                           from + turns};
                by_sm_[sm].push_back(before + b);
            }
        // Tick by tick, a turn of every SM that has one.
        std::vector<std::size_t> nth(on_sm.size(), 0);
        for (bool more = true; more;) {
            more = false;
            const Index tick = ticks();
            for (std::size_t sm = 0; sm < on_sm.size(); ++sm) {
                if (nth[sm] == on_sm[sm].size()) continue;
                const std::size_t b = on_sm[sm][nth[sm]];
                const Placement& p = placements_[before + b];
                more = true;
                if (tick < p.first_tick) continue;
                const SmTurn& turn = blocks[b].turns[static_cast<std::size_t>(tick - p.first_tick)];
                for (Index k = turn.first; k < turn.last; ++k) order.push_back(k);
                if (tick + 1 == p.last_tick) ++nth[sm];
            }
            if (more) ends_.push_back(static_cast<Index>(order.size()));
        }
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
    // `tick` counts from 1: it is the tick that has just ended. Ticks of placements count from 0.
    const auto after =
        std::partition_point(mine.begin(), mine.end(), [&](std::size_t p) { return placements_[p].last_tick < tick; });
    if (after == mine.end()) return nullptr;
    const Placement& p = placements_[*after];
    return p.first_tick < tick ? &p : nullptr;
}

}  // namespace tilescope
