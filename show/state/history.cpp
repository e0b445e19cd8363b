#include "show/state/history.hpp"

namespace tilescope::show {
namespace {

/// Whether the states differ in nothing but the step, the speed, the loop, the remarks and the SM in focus.
bool alike(const State& a, State b) {
    b.step = a.step, b.speed = a.speed, b.loop = a.loop, b.remarks = a.remarks, b.view.sm = a.view.sm;
    return a == b;
}

}  // namespace

void History::note(Entry now) {
    if (!entries_.empty() && alike(entries_[at_].state, now.state)) {
        entries_[at_] = std::move(now);
        return;
    }
    if (!entries_.empty()) entries_.resize(at_ + 1);
    if (entries_.size() == most) entries_.erase(entries_.begin());
    entries_.push_back(std::move(now));
    at_ = entries_.size() - 1;
}

}  // namespace tilescope::show
