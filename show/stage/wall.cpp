#include "show/stage/wall.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "show/run/heads.hpp"

namespace tilescope::show {
namespace {

/// The meaning of the tensor; of a gradient, the meaning of the tensor that it is the gradient of.
Meaning belongs_to(const RecordedTensor& t) { return t.meaning == Meaning::gradient ? t.gradient_of : t.meaning; }

/// A share of a tile, as a read, an addition in HBM, or a write.
Trips moved(const Step& step, double share) {
    if (step.kind() == Kind::load) return {.read = share};
    if (step.event.cost.hbm_reduce > 0) return {.reduced = share};
    return {.written = share};
}

Span joined(Span a, Span b) {
    const Index begin = std::min(a.begin, b.begin);
    return {begin, std::max(a.end(), b.end()) - begin};
}

}  // namespace

double Visit::painted_share(Index tick) const {
    if (tick < painted) return 0;
    return std::min(1.0, static_cast<double>(tick - painted + 1) / static_cast<double>(to - painted + 1));
}

bool Wall::has_room_for(const Run& run) {
    constexpr Index most = Index{1} << 18;
    const Index rows = ceil_div(run.recorded().seq_q, run.experiment().tiling.br);
    const Index cols = ceil_div(run.recorded().seq_k, run.experiment().tiling.bc);
    return rows <= most && cols <= most / std::max<Index>(1, rows);
}

Wall::Wall(const Run& run, Index head)
    : run_(run),
      head_(head),
      parts_(run, head),
      rows_(run.recorded().seq_q, run.experiment().tiling.br),
      cols_(run.recorded().seq_k, run.experiment().tiling.bc),
      cells_(static_cast<std::size_t>(rows() * cols())) {
    find_tensors();
    read_recording();
    sort_visits();
    look_at_mask();
}

void Wall::look_at_mask() {
    const Problem& p = run_.recorded();
    for (Index i = 0; i < rows(); ++i)
        for (Index j = 0; j < cols(); ++j) {
            covers_.push_back(p.cover(rows_[i], cols_[j]));
            skipped_ += skipped(i, j);
        }
}

WallGroup Wall::group(Span rows, Span cols) const {
    WallGroup g{rows, cols, 0, 0, {}, {}, std::vector<std::vector<Index>>(sheets_.size())};
    for (Index i = rows.begin; i < rows.end(); ++i)
        for (Index j = cols.begin; j < cols.end(); ++j) {
            g.hidden += cover(i, j) == Cover::hidden;
            g.skipped += skipped(i, j);
            for (const std::size_t v : visits(i, j)) g.begun.push_back(visits_[v].painted);
            if (!visits(i, j).empty()) g.painted.push_back(first_coat(visits(i, j)));
            for (std::size_t s = 0; s < sheets_.size(); ++s)
                if (const Index when = stored_[s][cell(i, j)]; when >= 0) g.stored[s].push_back(when);
        }
    std::sort(g.painted.begin(), g.painted.end());
    std::sort(g.begun.begin(), g.begun.end());
    for (std::vector<Index>& ticks : g.stored) std::sort(ticks.begin(), ticks.end());
    return g;
}

const std::vector<WallGroup>& Wall::groups(Index down, Index across) const {
    if (grouped_ == Span{down, across}) return groups_;
    grouped_ = {down, across};
    groups_.clear();
    for (Index i = 0; i < rows(); i += down)
        for (Index j = 0; j < cols(); j += across)
            groups_.push_back(group({i, std::min(down, rows() - i)}, {j, std::min(across, cols() - j)}));
    return groups_;
}

void Wall::sort_visits() {
    std::stable_sort(visits_.begin(), visits_.end(), [](const Visit& a, const Visit& b) {
        return std::tie(a.from, a.launch, a.block) < std::tie(b.from, b.launch, b.block);
    });
    for (std::size_t k = 0; k < visits_.size(); ++k) {
        const Visit& v = visits_[k];
        ways_[{v.launch, v.block}].push_back(k);
        ++habits_[{v.launch, v.loop}].visits;
        recorded_rows_ = std::max(recorded_rows_, v.rows.end());
        for (Index i = v.rows.begin; i < v.rows.end(); ++i)
            for (Index j = v.cols.begin; j < v.cols.end(); ++j) cells_[cell(i, j)].push_back(k);
    }
    for (Index i = 0; i < rows(); ++i)
        for (Index j = 0; j < cols(); ++j)
            if (!visits(i, j).empty())
                first_begun_.push_back(first_coat(visits(i, j))), first_done_.push_back(first_done(i, j));
    std::sort(first_begun_.begin(), first_begun_.end());
    std::sort(first_done_.begin(), first_done_.end());
}

/// The tick in which the first coat begins. A visit that begins earlier may paint later.
Index Wall::first_coat(const std::vector<std::size_t>& visits) const {
    Index first = run_.ticks();
    for (const std::size_t v : visits) first = std::min(first, visits_[v].painted);
    return first;
}

/// The tick that completes the first coat. Where several visits paint parts of the tile, the last of them does.
Index Wall::first_done(Index i, Index j) const {
    std::vector<std::size_t> by_end = visits(i, j);
    std::stable_sort(by_end.begin(), by_end.end(),
                     [&](std::size_t a, std::size_t b) { return visits_[a].to < visits_[b].to; });
    Count lacking = row(i).size * col(j).size;
    for (const std::size_t k : by_end) {
        lacking -= scores_in(visits_[k], i, j);
        if (lacking <= 0) return visits_[k].to;
    }
    return visits_[by_end.back()].to;
}

/// How many scores of a tile a visit paints.
Count Wall::scores_in(const Visit& v, Index i, Index j) const {
    return common(row(i), v.queries) * common(col(j), v.keys);
}

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
    sort_edges();
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

/// Inputs lie next to the matrix, then scratch tensors, and outputs outermost.
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

void Wall::read_recording() {
    /// The loop iteration that a thread block is in.
    struct Turn {
        bool ours = false, paints = false;
        Index turn = -2;  // none
        Visit visit{};
    };
    std::unordered_map<Index, Turn> turns;
    std::set<TensorId> strangers;
    std::set<TileId> anew;
    const auto close = [&](const Turn& t) {
        if (t.paints) visits_.push_back(t.visit);
    };
    const Schedule& schedule = run_.schedule();
    Index tick = 1;
    for (Index k = 0; k < run_.trace().size(); ++k) {
        while (schedule.steps_after(tick) <= k) ++tick;
        const Step& step = run_.trace()[k];
        const Event& e = step.event;
        if (step.moves_data()) travel(tick, step);
        if (step.kind() <= Kind::block_end) continue;
        const auto [at, is_new] =
            turns.try_emplace(e.block * static_cast<Index>(run_.trace().launches().size()) + step.launch);
        Turn& t = at->second;
        if (is_new) t.ours = common(run_.heads_of({step.launch, e.block, 0, 0, 0}), {head_, 1}) > 0;
        if (!t.ours) continue;
        if (t.turn != step.turn) {
            close(t);
            t.turn = step.turn, t.paints = false,
            t.visit = {
                step.launch, e.block,
                {},          {},
                {},          {},
                tick,        tick,
                0,           step.turn < 0 ? -1 : run_.trace().turns()[static_cast<std::size_t>(step.turn)].loop};
        }
        if (!works(step.kind())) continue;
        note_recomputed(k, anew);
        if (step.moves_data()) add_to_loop(step, t.visit.loop);
        if (step.moves_data() && t.paints && !(e.region.rows == t.visit.queries)) strangers.insert(e.region.tensor);
        t.visit.to = tick;
        if (e.meaning != Meaning::score || e.region.slice != head_) continue;
        const Span queries = e.region.rows, keys = e.region.cols;
        if (queries.size == 0 || keys.size == 0) continue;
        if (!t.paints) t.visit.painted = tick;
        t.visit.queries = t.paints ? joined(t.visit.queries, queries) : queries;
        t.visit.keys = t.paints ? joined(t.visit.keys, keys) : keys;
        t.visit.rows = rows_.touched(t.visit.queries), t.visit.cols = cols_.touched(t.visit.keys);
        t.paints = true;
    }
    for (const auto& [block, t] : turns) close(t);
    // Statistics of rows that are not the painted ones only happen to be as many (chunked's: one row for a chunk).
    for (std::size_t e = edges_.size(); e-- > 0;) {
        if (edges_[e].side != WallEdge::Side::between || !strangers.contains(edges_[e].tensor)) continue;
        edges_.erase(edges_.begin() + static_cast<std::ptrdiff_t>(e));
        trips_.erase(trips_.begin() + static_cast<std::ptrdiff_t>(e));
    }
    sort_edges();
}

/// `tiles`: the tiles that products of Q and K have written so far.
void Wall::note_recomputed(Index step, std::set<TileId>& tiles) {
    const Event& e = run_.trace()[step].event;
    if (!run_.algorithm().computes->saved || e.out == no_tile || !works(e.kind())) return;
    const auto is = [&](TileId tile, Meaning meaning) { return run_.trace().tiles()[tile].meaning == meaning; };
    if (e.kind() == Kind::product && is(e.a(), Meaning::query) && is(e.b(), Meaning::key)) tiles.insert(e.out);
    if (tiles.contains(e.out)) recomputed_[run_.trace()[step].launch] = run_.contents().after(step);
}

const std::string& Wall::recomputed(Index launch) const {
    static const std::string none;
    const auto at = recomputed_.find(launch);
    return at == recomputed_.end() ? none : at->second;
}

void Wall::travel(Index tick, const Step& step) {
    const Region& r = step.event.region;
    const RecordedTensor& t = run_.trace().tensors()[r.tensor];
    if (step.event.cost.hbm() == 0 || r.slice != slice_of(run_.recorded(), t, head_)) return;
    if (step.kind() == Kind::store) store_sheet(tick, r);
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        if (edges_[e].tensor != r.tensor) continue;
        const Span rows = edges_[e].along(r.rows), some = edges_[e].tiles.touched(rows);
        const double width = static_cast<double>(r.cols.size) / static_cast<double>(t.cols);
        for (Index k = some.begin; k < some.end(); ++k) {
            std::vector<Trip>& trips = trips_[e][static_cast<std::size_t>(k)];
            if (trips.empty() || trips.back().tick != tick)
                trips.push_back({tick, trips.empty() ? Trips{} : trips.back().so_far});
            const Span tile = edges_[e].tiles[k];
            trips.back().so_far +=
                moved(step, width * static_cast<double>(common(tile, rows)) / static_cast<double>(tile.size));
        }
    }
}

void Wall::add_to_loop(const Step& step, Index loop) {
    const Region& r = step.event.region;
    if (step.event.cost.hbm() == 0) return;
    const RecordedTensor& t = run_.trace().tensors()[r.tensor];
    const Meaning of = belongs_to(t);
    const bool by_col = of == Meaning::key || of == Meaning::value;
    const bool whole = t.rows == run_.recorded().seq_q && t.cols == run_.recorded().seq_k;
    const auto tiles = [](Index size, Index tile) { return static_cast<double>(size) / static_cast<double>(tile); };
    const double down = tiles(r.rows.size, by_col ? tile_cols() : tile_rows());
    const double across = whole ? tiles(r.cols.size, tile_cols()) : tiles(r.cols.size, t.cols);
    habits_[{step.launch, loop}].trips[r.tensor] += moved(step, down * across);
}

void Wall::store_sheet(Index tick, const Region& r) {
    for (std::size_t s = 0; s < sheets_.size(); ++s) {
        if (sheets_[s].tensor != r.tensor) continue;
        const Span rows = rows_.touched(r.rows), cols = cols_.touched(r.cols);
        for (Index i = rows.begin; i < rows.end(); ++i)
            for (Index j = cols.begin; j < cols.end(); ++j)
                if (Index& when = stored_[s][cell(i, j)]; when < 0) when = tick;
    }
}

const std::vector<std::size_t>& Wall::way(Index launch, Index block) const {
    static const std::vector<std::size_t> none;
    const auto at = ways_.find({launch, block});
    return at == ways_.end() ? none : at->second;
}

double Wall::coats(Index i, Index j, Index tick) const {
    Count scores = 0;
    for (const std::size_t k : visits(i, j))
        if (visits_[k].painted <= tick) scores += scores_in(visits_[k], i, j);
    return static_cast<double>(scores) / static_cast<double>(row(i).size * col(j).size);
}

Index Wall::painted_tiles(Index tick) const {
    return std::upper_bound(first_done_.begin(), first_done_.end(), tick) - first_done_.begin();
}

Index Wall::tiles_begun(Index tick) const {
    const auto begun = std::upper_bound(first_begun_.begin(), first_begun_.end(), tick) - first_begun_.begin();
    return begun - painted_tiles(tick);
}

bool Wall::stored(std::size_t sheet, Index i, Index j, Index tick) const {
    const Index when = stored_[sheet][cell(i, j)];
    return when >= 0 && when <= tick;
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

const Wall& Walls::of(const Run& run, Index head, std::uint64_t version) {
    return told_.of(version, {&run, head}, [&] { return Wall(run, head); });
}

}  // namespace tilescope::show
