// Loops of a thread block over tiles: folded or one by one.
#include <algorithm>
#include <utility>

#include "core/machine/block.hpp"
#include "core/machine/fold.hpp"
#include "core/machine/gpu.hpp"
#include "core/machine/gpu_state.hpp"
#include "core/machine/mistakes.hpp"
#include "core/machine/promise.hpp"
#include "core/text/message.hpp"

namespace tilescope {
namespace {

/// Throws where a folded loop leaves out tiles that its representative sees: for the members that do not run, only the
/// total number of tiles is known.
void require_all(const Tiles& tiles, Count seen, Here here) {
    if (tiles.count() == seen) return;
    throw Misuse(text::message("promise.uniform_over_some", std::to_string(tiles.count()), std::to_string(seen)), here);
}

}  // namespace

void Block::loop(const Axis& asked, const Body& body, Here here) {
    const Axis range = gpu_.believed(asked);
    const LoopMark mark{index_, range.tiles, range.promise, line_, here, weight_};
    w_.tell([&](Listener& l) { l.begin(mark); });
    gpu_.state_->mode.fold ? run_folded(range, body, here) : run_all(range, body, here);
    w_.tell([&](Listener& l) { l.end(mark); });
}

/// Runs the loop body on tile k, which counts `weight` times.
void Block::turn(const Axis& range, Index k, Count weight, const Body& body) {
    check_stop(gpu_.state_->control);
    const Count before = weight_;
    weight_ = weight;
    const Span tile = range.tiles[k];
    w_.tell([&](Listener& l) { l.turn({index_, k, tile, weight}); });
    body(tile);
    at_hand_.reset();
    weight_ = before;
}

/// How many full and ragged tiles all blocks that this block stands for see together.
Block::Seeing Block::seeing(const Tiles& tiles, Here here) const {
    if (!tiles.graded() || grading_.members == 0) return {weight_ * tiles.full(), tiles.ragged() ? weight_ : 0};
    require_all(tiles, grading_.own, here);
    const Count each = weight_ / grading_.members;
    return {tiles.full() > 0 ? each * grading_.full : 0, tiles.ragged() ? each * grading_.ragged : 0};
}

void Block::run_folded(const Axis& range, const Body& body, Here here) {
    const Tiles& tiles = range.tiles;
    if (range.promise == Promise::uniform && tiles.graded() && grading_.members > 0) {
        const Seeing all = seeing(tiles, here);
        if (all.full > 0) turn(range, 0, all.full, body);
        if (all.ragged > 0) turn(range, tiles.full(), all.ragged, body);
        return;
    }
    const Grading around = grading_;
    std::vector<Representative> chosen;
    representatives(range, chosen);
    for (const Representative& r : chosen) {
        if (range.promise == Promise::graded)
            grading_ = {r.members, r.full, r.ragged, (*range.seen)(tiles[r.position]).count()};
        turn(range, r.position, weight_ * r.members, body);
    }
    grading_ = around;
}

void Block::run_all(const Axis& range, const Body& body, Here here) {
    if (range.promise == Promise::none) {
        for (Index k = 0; k < range.tiles.count(); ++k) turn(range, k, weight_, body);
        return;
    }
    PromiseCheck promise(PromiseCheck::Members::tiles, range.promise == Promise::uniform ? "uniform" : "graded", here);
    for (Index k = 0; k < range.tiles.count(); ++k) {
        const Cost before = Cost::so_far(w_);
        turn(range, k, weight_, body);
        std::optional<Tiles> seen;
        if (range.promise == Promise::graded) seen = (*range.seen)(range.tiles[k]);
        promise.tell(alike_in(range, k, seen), k, Cost::so_far(w_) - before, seen, line_);
    }
}

void Block::two_stages(const Axis& asked, const Stages& stages, Here here) {
    const Axis range = gpu_.believed(asked);
    const bool folds = gpu_.state_->mode.fold && range.promise == Promise::uniform;
    folds ? run_stages_folded(range, stages, here) : run_all_stages(range, stages, here);
}

/// Each stage of a full tile has one cost, and each stage of the ragged tile another. Of the blocks that this block
/// stands for, all see a tile or none does, so each begins and ends the loop once. They take at most three paths: those
/// that end with a full tile, those that end with the ragged tile after full ones, and those that see no other tile.
void Block::run_stages_folded(const Axis& range, const Stages& stages, Here here) {
    const Tiles& tiles = range.tiles;
    const Count weight = weight_;
    const auto [full, ragged] = seeing(tiles, here);
    const Count only_ragged = std::clamp<Count>(weight - full, 0, ragged), end_full = std::min(full, weight - ragged);
    const Count between = full - end_full - (ragged - only_ragged);  // full tiles that a path does not begin with
    const Span whole = full > 0 ? tiles[0] : Span{}, rest = ragged > 0 ? tiles[tiles.full()] : Span{};
    const auto iterate = [&](Index k, Count times, const Span* now) {
        if (times > 0) turn(range, k, times, [&](Span next) { stages(&next, now); });
    };
    struct Path {
        Count times, between;
        bool from_full, to_full;
    };
    const LoopMark mark{index_, tiles, range.promise, line_, here, weight};
    for (const auto& [times, more, from_full, to_full] :
         {Path{end_full, end_full > 0 ? between : 0, true, true},
          Path{ragged - only_ragged, end_full > 0 ? 0 : between, true, false}, Path{only_ragged, 0, false, false}}) {
        if (times == 0) continue;
        w_.tell([&](Listener& l) { l.begin(mark); });
        iterate(from_full ? 0 : tiles.full(), times, nullptr);
        iterate(0, more, &whole);
        if (from_full && !to_full) iterate(tiles.full(), times, &whole);
        w_.tell([&](Listener& l) { l.end(mark); });
        weight_ = times;
        stages(nullptr, to_full ? &whole : &rest);
        weight_ = weight;
    }
}

void Block::run_all_stages(const Axis& range, const Stages& stages, Here here) {
    const Tiles& tiles = range.tiles;
    const LoopMark mark{index_, tiles, range.promise, line_, here, weight_};
    const bool promises = range.promise == Promise::uniform;
    PromiseCheck promise(PromiseCheck::Members::tiles, "pipelined", here);
    std::optional<Span> now;
    Cost ends;  // of the first iteration, and of what comes after the loop
    w_.tell([&](Listener& l) { l.begin(mark); });
    for (Index k = 0; k < tiles.count(); ++k) {
        const Cost before = Cost::so_far(w_);
        turn(range, k, weight_, [&](Span next) { stages(&next, now ? &*now : nullptr); });
        const Cost cost = Cost::so_far(w_) - before;
        if (!now)
            ends = cost;
        else if (promises && k < tiles.full())
            promise.tell(0, k, cost, std::nullopt, line_);
        now = tiles[k];
    }
    w_.tell([&](Listener& l) { l.end(mark); });
    if (!now) return;
    const Cost before = Cost::so_far(w_);
    stages(nullptr, &*now);
    // Where no tile is ragged, both ends together are the two stages of a tile.
    if (promises && !tiles.ragged()) promise.tell(0, 0, ends + (Cost::so_far(w_) - before), std::nullopt, line_);
}

}  // namespace tilescope
