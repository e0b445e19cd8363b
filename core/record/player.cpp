#include "core/record/player.hpp"

#include <functional>
#include <set>

#include "core/machine/sorted.hpp"

namespace tilescope {
namespace {

Index entries(const MachineState& s) {
    std::size_t n = s.tiles.size() + s.tensors.size();
    for (const TensorState& t : s.tensors) n += t.touched.size();
    return static_cast<Index>(n);
}

/// Brings the list of live tiles up to date with a step.
void change_tiles(std::vector<TileState>& tiles, const Step& step, Index number) {
    const Event& e = step.event;
    if (e.out == no_tile) return;
    // From the back, because programs mostly work with the tiles that they made last.
    const auto found = std::find_if(tiles.rbegin(), tiles.rend(), [&](const TileState& t) { return t.tile == e.out; });
    if (e.kind() == Kind::release)
        tiles.erase(std::prev(found.base()));
    else if (found != tiles.rend())
        found->written = number;
    else
        tiles.push_back({e.out, number});
}

bool adds(const Event& e) { return e.operation->effect == Effect::store_sum; }

/// Copies a dense rectangle to its place in the tensor, or adds it there.
void place(const RecordedTensor& shape, const Event& e, TileData from, std::vector<float>& to) {
    const Region& r = e.region;
    for (Index row = 0; row < r.rows.size; ++row) {
        const float* const some = from.data() + row * r.cols.size;
        float* const start = to.data() + (r.slice * shape.rows + r.rows.begin + row) * shape.cols + r.cols.begin;
        if (adds(e))
            std::transform(some, some + r.cols.size, start, start, std::plus<>());
        else
            std::copy_n(some, r.cols.size, start);
    }
}

}  // namespace

Player::Player(const Trace& trace) : trace_(&trace), contents_(trace.tensors().size()) {
    state_.tensors.resize(trace.tensors().size());
    find_changes();
    keep_keyframe();
}

void Player::seek(Index step) {
    step = std::clamp<Index>(step, 0, size());
    const auto later = std::upper_bound(keyframes_.begin(), keyframes_.end(), step,
                                        [](Index s, const MachineState& k) { return s < k.position; });
    const MachineState& nearest = *std::prev(later);
    if (step < position() || nearest.position > position()) state_ = nearest;
    while (position() < step) {
        advance();
        if (position() == next_keyframe_) keep_keyframe();
    }
}

/// The distance to the next keyframe grows with the state, so that all keyframes together take no more room than the
/// recording does.
void Player::keep_keyframe() {
    constexpr Index least = 64;
    keyframes_.push_back(state_);
    next_keyframe_ = position() + std::max(least, entries(state_));
}

void Player::advance() {
    const Index number = state_.position++;
    const Step& step = (*trace_)[number];
    const Event& e = step.event;
    if (e.kind() == Kind::launch) state_.kernel = trace_->launches()[static_cast<std::size_t>(step.launch)].kernel;
    state_.launch = step.launch;
    state_.block = e.kind() == Kind::launch ? -1 : e.block;
    state_.line = e.line;
    state_.source_line = e.source_line;
    state_.total.add(e.cost, e.times);
    state_.sram_used = e.sram_used;
    state_.registers_used = e.registers_used;
    change_tiles(state_.tiles, step, number);
    if (step.moves_data()) touch(step);
}

void Player::touch(const Step& step) {
    const Event& e = step.event;
    TensorState& tensor = state_.tensors[e.region.tensor];
    tensor.traffic += Traffic::of(e.cost).times(e.times);
    if (step.region == static_cast<Index>(tensor.touched.size())) tensor.touched.push_back({.region = e.region});
    Touched& t = tensor.touched[static_cast<std::size_t>(step.region)];
    const Index number = position() - 1;
    if (e.kind() == Kind::load) {
        ++t.loads;
        t.last_load = number;
    } else {
        ++t.stores;
        t.last_store = tensor.last_store = number;
    }
}

/// Sums are replayed in the order of the thread blocks' numbers, as the machine adds, whatever the steps' order.
void Player::find_changes() {
    changes_.resize(trace_->tensors().size());
    std::set<TensorId> added_to;
    for (Index k = 0; k < size(); ++k)
        if (adds((*trace_)[k].event)) added_to.insert((*trace_)[k].event.region.tensor);
    if (added_to.empty()) return;
    for (Index k = 0; k < size(); ++k) {
        const Event& e = (*trace_)[k].event;
        if (e.kind() == Kind::store && added_to.contains(e.region.tensor)) changes_[e.region.tensor].push_back(k);
    }
    const auto place = [&](Index k) { return std::pair((*trace_)[k].launch, (*trace_)[k].event.block); };
    for (std::vector<Index>& steps : changes_)
        sort_stably(steps, [&](Index a, Index b) { return place(a) < place(b); });
}

/// Applies all stores and additions so far.
void Player::replay(TensorId tensor, std::vector<float>& values) const {
    for (const Index k : changes_[tensor])
        if (k < position()) place(trace_->tensors()[tensor], (*trace_)[k].event, trace_->values((*trace_)[k]), values);
}

const std::vector<float>& Player::values(TensorId tensor) const {
    const TensorState& now = state_.tensors[tensor];
    const RecordedTensor& recorded = trace_->tensors()[tensor];
    Contents& c = contents_[tensor];
    if (c.last_store == now.last_store || !trace_->has_values()) return c.values;
    c.last_store = now.last_store;
    c.values = recorded.initial;
    if (!changes_[tensor].empty()) {
        replay(tensor, c.values);
        return c.values;
    }
    // The last store to each region, in the order in which they happened, because regions may overlap.
    std::vector<Index> stores;
    for (const Touched& t : now.touched)
        if (t.last_store >= 0) stores.push_back(t.last_store);
    std::sort(stores.begin(), stores.end());
    for (const Index s : stores) place(recorded, (*trace_)[s].event, trace_->values((*trace_)[s]), c.values);
    return c.values;
}

}  // namespace tilescope
