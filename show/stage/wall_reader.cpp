// Reads a wall out of a recording: the visits of a head's thread blocks, and what crosses the SMs' boundary.
#include <algorithm>
#include <set>

#include "show/run/heads.hpp"
#include "show/stage/wall.hpp"

namespace tilescope::show {
namespace {

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

class WallReader final : public StepReader {
  public:
    explicit WallReader(Wall& to) : to_(to), run_(to.run_), trace_(run_.trace()) {
        for (const Placement& p : run_.schedule().placements())
            turns_.push_back({.ours = common(run_.heads_of(p), {to_.head_, 1}) > 0});
    }

    void turn(const Reading& r) override {
        Turn& t = turns_[r.placement];
        close(t);
        const Step& s = r.step;
        const Index loop = s.turn < 0 ? -1 : trace_.turns()[static_cast<std::size_t>(s.turn)].loop;
        t.paints = false;
        t.visit = {s.launch, s.event.block, {}, {}, {}, {}, r.tick, r.tick, 0, loop};
    }

    void step(const Reading& r) override {
        const Step& step = r.step;
        const Event& e = step.event;
        if (step.moves_data()) travel(r.tick, step);
        Turn& t = turns_[r.placement];
        if (!t.ours || !works(step.kind())) return;
        note_recomputed(step, r.number);
        if (step.moves_data()) add_to_loop(step, t.visit.loop);
        if (step.moves_data() && t.paints && !(e.region.rows == t.visit.queries)) strangers_.insert(e.region.tensor);
        t.visit.to = r.tick;
        if (e.meaning == Meaning::score && e.region.slice == to_.head_) paint(t, e.region.rows, e.region.cols);
    }

    void finish() {
        for (const Turn& t : turns_) close(t);
        // Statistics of other rows than the painted ones are no edge, though they are as many (chunked has one row for
        // a chunk).
        for (std::size_t e = to_.edges_.size(); e-- > 0;) {
            if (to_.edges_[e].side != WallEdge::Side::between || !strangers_.contains(to_.edges_[e].tensor)) continue;
            to_.edges_.erase(to_.edges_.begin() + static_cast<std::ptrdiff_t>(e));
            to_.trips_.erase(to_.trips_.begin() + static_cast<std::ptrdiff_t>(e));
        }
    }

  private:
    /// The iteration of a loop, or the work outside of loops, that a thread block is in.
    struct Turn {
        bool ours = false, paints = false;
        Visit visit{};
    };

    void close(const Turn& t) {
        if (t.paints) to_.visits_.push_back(t.visit);
    }

    void paint(Turn& t, Span queries, Span keys) {
        if (queries.size == 0 || keys.size == 0) return;
        Visit& v = t.visit;
        if (!t.paints) v.painted = v.to;
        v.queries = t.paints ? joined(v.queries, queries) : queries;
        v.keys = t.paints ? joined(v.keys, keys) : keys;
        v.rows = to_.rows_.touched(v.queries), v.cols = to_.cols_.touched(v.keys);
        t.paints = true;
    }

    void note_recomputed(const Step& step, Index number) {
        const Event& e = step.event;
        if (!run_.algorithm().computes->saved || e.out == no_tile) return;
        const auto is = [&](TileId tile, Meaning meaning) { return trace_.tiles()[tile].meaning == meaning; };
        if (e.kind() == Kind::product && is(e.a(), Meaning::query) && is(e.b(), Meaning::key)) anew_.insert(e.out);
        if (anew_.contains(e.out)) to_.recomputed_[step.launch] = run_.contents().after(number);
    }

    void travel(Index tick, const Step& step) {
        const Region& r = step.event.region;
        const RecordedTensor& t = trace_.tensors()[r.tensor];
        if (step.event.cost.hbm() == 0 || r.slice != slice_of(run_.recorded(), t, to_.head_)) return;
        if (step.kind() == Kind::store) store_sheet(tick, r);
        for (std::size_t e = 0; e < to_.edges_.size(); ++e) {
            if (to_.edges_[e].tensor != r.tensor) continue;
            const Span rows = to_.edges_[e].along(r.rows), some = to_.edges_[e].tiles.touched(rows);
            const double width = static_cast<double>(r.cols.size) / static_cast<double>(t.cols);
            for (Index k = some.begin; k < some.end(); ++k) {
                std::vector<Wall::Trip>& trips = to_.trips_[e][static_cast<std::size_t>(k)];
                if (trips.empty() || trips.back().tick != tick)
                    trips.push_back({tick, trips.empty() ? Trips{} : trips.back().so_far});
                const Span tile = to_.edges_[e].tiles[k];
                trips.back().so_far +=
                    moved(step, width * static_cast<double>(common(tile, rows)) / static_cast<double>(tile.size));
            }
        }
    }

    void add_to_loop(const Step& step, Index loop) {
        const Region& r = step.event.region;
        if (step.event.cost.hbm() == 0) return;
        const RecordedTensor& t = trace_.tensors()[r.tensor];
        const Meaning of = belongs_to(t);
        const bool by_col = of == Meaning::key || of == Meaning::value;
        const bool whole = t.rows == run_.recorded().seq_q && t.cols == run_.recorded().seq_k;
        const auto tiles = [](Index size, Index tile) { return static_cast<double>(size) / static_cast<double>(tile); };
        const double down = tiles(r.rows.size, by_col ? to_.tile_cols() : to_.tile_rows());
        const double across = whole ? tiles(r.cols.size, to_.tile_cols()) : tiles(r.cols.size, t.cols);
        to_.habits_[{step.launch, loop}].trips[r.tensor] += moved(step, down * across);
    }

    void store_sheet(Index tick, const Region& r) {
        for (std::size_t s = 0; s < to_.sheets_.size(); ++s) {
            if (to_.sheets_[s].tensor != r.tensor) continue;
            const Span rows = to_.rows_.touched(r.rows), cols = to_.cols_.touched(r.cols);
            for (Index i = rows.begin; i < rows.end(); ++i)
                for (Index j = cols.begin; j < cols.end(); ++j)
                    if (Index& when = to_.stored_[s][to_.cell(i, j)]; when < 0) when = tick;
        }
    }

    Wall& to_;
    const Run& run_;
    const Trace& trace_;
    std::vector<Turn> turns_;       // by placement
    std::set<TensorId> strangers_;  // tensors whose rows are not the painted ones
    std::set<TileId> anew_;         // tiles that products of Q and K have written
};

void Wall::read_visits() {
    WallReader reader(*this);
    read_steps(run_.schedule(), {&reader});
    reader.finish();
    sort_edges();
}

}  // namespace tilescope::show
