// The tensors around a wall: where they lie, and how often their tiles cross the SMs' boundary.
#include <algorithm>

#include "show/stage/wall.hpp"

namespace tilescope::show {

void Wall::find_tensors() {
    const auto& tensors = run_.trace().tensors();
    const bool of_heads = run_.algorithm().computes->features.has(Feature::head_dims);
    for (TensorId id = 0; id < tensors.size(); ++id) {
        const RecordedTensor& t = tensors[id];
        if (parts_.is_partial(id)) continue;
        const bool whole = t.rows == run_.recorded().seq_q && t.cols == run_.recorded().seq_k;
        const bool score = t.meaning == Meaning::score || t.gradient_of == Meaning::bias;
        if (whole && (score || (t.role == Role::output && !of_heads)))
            sheets_.push_back({id, t.name, t.meaning});
        else if (!score)
            find_edge(id);
    }
    for (const WallEdge& e : edges_) trips_.emplace_back(static_cast<std::size_t>(e.tiles.count()));
    for (const WallSheet& s : sheets_)
        stored_.emplace_back(cells_.size(), tensors[s.tensor].role == Role::input ? 0 : -1);
}

void Wall::find_edge(TensorId id) {
    using Side = WallEdge::Side;
    const RecordedTensor& t = run_.trace().tensors()[id];
    const bool gradient = t.meaning == Meaning::gradient;
    const auto add = [&](Side side, const Tiles& tiles, Index rows) {
        const bool there = gradient ? t.rows % rows == 0 : t.rows == rows;
        if (there) edges_.push_back({side, id, t.name, t.meaning, tiles, rows});
    };
    const auto by_row = [&](Side side) { add(side, rows_, run_.recorded().seq_q); };
    const auto by_col = [&](Side side) { add(side, cols_, run_.recorded().seq_k); };
    const Meaning meaning = belongs_to(t);
    if (meaning == Meaning::query) by_row(Side::left);
    if (meaning == Meaning::key) by_col(Side::above);
    if (meaning == Meaning::value) by_col(Side::below);
    if (meaning == Meaning::output && t.role != Role::scratch) by_row(Side::right);
    if (meaning == Meaning::statistic) by_row(Side::between);
}

/// Numbers the edges on each side: inputs lie next to the matrix, then scratch tensors, and outputs outermost.
void Wall::sort_edges() {
    const auto rank = [&](const WallEdge& e) {
        const Role role = run_.trace().tensors()[e.tensor].role;
        return std::pair(role == Role::input ? 0 : role == Role::scratch ? 1 : 2, e.tensor);
    };
    for (WallEdge& e : edges_)
        e.nth = static_cast<int>(std::count_if(edges_.begin(), edges_.end(), [&](const WallEdge& other) {
            return other.side == e.side &&
                   (e.side == WallEdge::Side::between ? other.tensor < e.tensor : rank(other) < rank(e));
        }));
}

Trips Wall::trips(const WallEdge& edge, Index k, Index tick) const {
    const std::vector<Trip>& all = trips_[place(edge)][static_cast<std::size_t>(k)];
    const auto after =
        std::upper_bound(all.begin(), all.end(), tick, [](Index t, const Trip& trip) { return t < trip.tick; });
    return after == all.begin() ? Trips{} : std::prev(after)->so_far;
}

Trips Wall::most_trips(const WallEdge& edge) const {
    Trips most;
    for (const auto& trips : trips_[place(edge)]) {
        if (trips.empty()) continue;
        most.read = std::max(most.read, trips.back().so_far.read);
        most.written = std::max(most.written, trips.back().so_far.written);
        most.reduced = std::max(most.reduced, trips.back().so_far.reduced);
    }
    return most;
}

Trips Wall::trips_a_visit(const Visit& like, TensorId tensor) const {
    const auto found = habits_.find({like.launch, like.loop});
    if (found == habits_.end()) return {};
    const auto trips = found->second.trips.find(tensor);
    if (trips == found->second.trips.end()) return {};
    const auto n = static_cast<double>(std::max<Index>(1, found->second.visits));
    const Trips& all = trips->second;
    return {all.read / n, all.written / n, all.reduced / n};
}

}  // namespace tilescope::show
