// Loops of a thread block over tiles: folded or one by one.
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

void Block::run_folded(const Axis& range, const Body& body, Here here) {
    const Tiles& tiles = range.tiles;
    if (range.promise == Promise::uniform && tiles.graded() && grading_.members > 0) {
        require_all(tiles, grading_.own, here);
        // The members that this one stands for see so many full and ragged tiles together.
        const Count each = weight_ / grading_.members;
        if (grading_.full > 0 && tiles.full() > 0) turn(range, 0, each * grading_.full, body);
        if (grading_.ragged > 0 && tiles.ragged()) turn(range, tiles.full(), each * grading_.ragged, body);
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

}  // namespace tilescope
