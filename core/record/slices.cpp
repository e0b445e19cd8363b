#include "core/record/slices.hpp"

namespace tilescope {

bool Slices::carry_on(const std::function<void()>& run) {
    events_ = flops_ = 0;
    try {
        run();
    } catch (const Full&) {
    }
    return !full();
}

/// Counts a mark or an event of the current block. Returns whether it was not passed on before.
bool Slices::is_new() {
    if (++told_ <= heard_) return false;
    heard_ = told_;
    return true;
}

Index Slices::next_wanted(Index launch, Index from) {
    if (full() || launch < launch_) return none_wanted;
    return to_.next_wanted(launch, launch == launch_ ? std::max(from, block_) : from);
}

bool Slices::wants(Index launch, Index block) {
    return next_wanted(launch, block) == block && to_.wants(launch, block);
}

void Slices::begin(const LaunchMark& mark) {
    if (mark.launch < launches_begun_ || full()) return;
    ++launches_begun_;
    ++events_;
    to_.begin(mark);
}

void Slices::end(const LaunchMark& mark) {
    if (mark.launch < launch_ || full()) return;
    to_.end(mark);
    launch_ = mark.launch + 1;
    block_ = 0;
}

void Slices::begin(const BlockMark& mark) {
    told_ = 0;
    if (!is_new()) return;
    ++events_;
    to_.begin(mark);
}

void Slices::end(const BlockMark& mark) {
    to_.end(mark);
    ++events_;
    block_ = mark.block + 1;
    heard_ = 0;
}

void Slices::begin(const LoopMark& mark) {
    if (is_new()) to_.begin(mark);
}
void Slices::turn(const TurnMark& mark) {
    if (is_new()) to_.turn(mark);
}
void Slices::end(const LoopMark& mark) {
    if (is_new()) to_.end(mark);
}
void Slices::visit(const LineMark& mark) {
    if (is_new()) to_.visit(mark);
}

void Slices::on(const Event& event, TileData data) {
    if (end_ == End::anywhere && told_ >= heard_ && full()) throw Full();
    if (!is_new()) return;
    ++events_;
    flops_ += event.cost.flops();
    to_.on(event, data);
}

}  // namespace tilescope
