// Reads a row's story out of a recording: what each operation wrote of the row, grouped into visits.
#include <numeric>
#include <utility>

#include "show/stage/row.hpp"

namespace tilescope::show {
namespace {

/// What a tile holds after an operation. `out`: what the tile held before; `a`: what the first operand holds.
RowForm form_after(const Event& e, RowForm out, RowForm a) {
    switch (e.operation->effect) {
        case Effect::product:
            return e.meaning == Meaning::score ? RowForm::scores : e.meaning == Meaning::output ? RowForm::output : out;
        case Effect::make:
        case Effect::add_log:
            return RowForm::other;
        // Maxima and sums over the results of parts of the row are not maxima and sums of its scores.
        case Effect::row_max:
        case Effect::max_row_max:
            return a == RowForm::scores ? RowForm::maximum : RowForm::other;
        case Effect::row_sum:
        case Effect::add_row_sum:
            return a == RowForm::weights ? RowForm::sum : RowForm::other;
        case Effect::exp:
        case Effect::exp_minus:
            return out == RowForm::scores ? RowForm::weights : RowForm::factor;
        case Effect::max:
            return RowForm::maximum;
        case Effect::divide_rows:
            return out == RowForm::weights ? RowForm::shares : out == RowForm::sum ? RowForm::factor : out;
        case Effect::copy:
            return a;
        case Effect::add:
            return out == RowForm::other ? a : out;
        default:
            return out;
    }
}

}  // namespace

/// Which rows the tiles of a head have. Known from scores, loads and stores; tiles that an operation takes row by row
/// have the same rows.
class TileRows final : public StepReader {
  public:
    TileRows(const Run& run, Index head) : run_(run), trace_(run.trace()), tiles_(trace_.tiles().size()) {
        for (const Placement& p : run.schedule().placements()) ours_.push_back(run.head_of(p) == head);
        std::iota(tiles_.begin(), tiles_.end(), TileId{0});
        read_steps(run.schedule(), {this});
        for (const auto* from : {&scores_, &moved_})
            for (const auto& [t, span] : *from) rows_.try_emplace(root(t), span);
    }

    void step(const Reading& r) override {
        const Step& s = r.step;
        const Event& e = s.event;
        if (!ours(r) || !works(s.kind())) return;
        if (!s.moves_data() && !e.reads[0].transposed) join(e.out, e.a());
        const TileId t = s.tile();
        if (t == no_tile || e.region.rows.size != trace_.tiles()[t].rows) return;
        const Meaning of = s.moves_data() ? trace_.tensors()[e.region.tensor].meaning : e.meaning;
        const Index rows = s.moves_data() ? trace_.tensors()[e.region.tensor].rows : 0;
        if (of == Meaning::score) scores_.try_emplace(t, e.region.rows);
        if (rows == run_.recorded().seq_q && (of == Meaning::query || of == Meaning::output))
            moved_.try_emplace(t, e.region.rows);
    }
    /// Whether the thread block works on the head.
    bool ours(const Reading& r) const { return ours_[r.placement]; }
    /// Empty where they are not known.
    Span of(TileId tile) {
        const auto at = rows_.find(root(tile));
        return at == rows_.end() ? Span{} : at->second;
    }

  private:
    TileId root(TileId t) {
        while (tiles_[t] != t) t = tiles_[t] = tiles_[tiles_[t]];
        return t;
    }
    void join(TileId a, TileId b) {
        if (a != no_tile && b != no_tile && trace_.tiles()[a].rows == trace_.tiles()[b].rows) tiles_[root(a)] = root(b);
    }

    const Run& run_;
    const Trace& trace_;
    std::vector<bool> ours_;     // by placement
    std::vector<TileId> tiles_;  // union-find: another tile with the same rows, or itself
    std::map<TileId, Span> scores_, moved_, rows_;
};

/// Goes through the thread blocks of a head, and keeps what is written of the row.
class RowReader final : public StepReader {
  public:
    explicit RowReader(RowStory& to)
        : to_(to), trace_(to.run_.trace()), rows_(to.run_, to.head_), known_(trace_.tiles().size()) {
        for (const RecordedTensor& t : trace_.tensors())
            stored_.push_back(t.meaning == Meaning::score ? RowForm::scores : RowForm::other);
        read_steps(to.run_.schedule(), {this});
        line_up();
    }

    void step(const Reading& r) override {
        const Step& s = r.step;
        const Event& e = s.event;
        if (!rows_.ours(r) || s.kind() == Kind::release) return;
        if (s.kind() == Kind::store) return store(s, r.tick);
        Known& out = known_[e.out];
        const Known a = e.a() == no_tile ? Known{} : known_[e.a()];
        const Index before = std::exchange(out.written, r.number);
        out.form = s.kind() == Kind::load ? stored_[e.region.tensor] : form_after(e, out.form, a.form);
        keep({r.tick, r.number, 0, out.form, a.written, before, 0}, s);
    }

  private:
    struct Known {
        RowForm form = RowForm::other;
        Index written = -1;
    };
    struct Told {
        RowVisit visit;
        std::vector<RowWrite> writes;
    };
    using Stored = std::tuple<TensorId, Index, Index, Index>;  // tensor, slice, first row, first column

    static Stored place_of(const Region& r) { return {r.tensor, r.slice, r.rows.begin, r.cols.begin}; }

    void store(const Step& s, Index tick) {
        const Event& e = s.event;
        if (known_[e.a()].form != RowForm::other) stored_[e.region.tensor] = known_[e.a()].form;
        stored_shares_[place_of(e.region)] = shares(known_[e.a()].written);
        if (common(rows_.of(e.a()), {to_.query_, 1}) > 0) stretch(s, tick);
    }

    void keep(RowWrite w, const Step& s) {
        const Event& e = s.event;
        const Span rows = rows_.of(e.out);
        if (common(rows, {to_.query_, 1}) == 0) return;
        w.row = w.a_row = to_.query_ - rows.begin;
        if (trace_.tiles()[e.out].meaning == Meaning::query) return;
        if (w.form == RowForm::sum) to_.shares_[w.step] = shares_after(w, e);
        place(s, w).writes.push_back(w);
    }

    std::vector<RowShare> shares(Index step) const {
        const auto at = to_.shares_.find(step);
        return at == to_.shares_.end() ? std::vector<RowShare>() : at->second;
    }

    /// The weights in a sum after a write: those in the sum before, and those that the write added.
    std::vector<RowShare> shares_after(const RowWrite& w, const Event& e) const {
        if (e.kind() == Kind::load) {
            const auto at = stored_shares_.find(place_of(e.region));
            return at == stored_shares_.end() ? std::vector<RowShare>() : at->second;
        }
        const Effect effect = e.operation->effect;
        if (effect == Effect::copy) return shares(w.a_step);
        std::vector<RowShare> all = effect == Effect::row_sum ? std::vector<RowShare>() : shares(w.before);
        if (sums_row(effect)) {
            all.push_back({trace_[w.a_step].event.region.cols, w.a_step, w.a_row, 1});
        } else if (effect == Effect::add) {
            const std::vector<RowShare> more = shares(w.a_step);
            all.insert(all.end(), more.begin(), more.end());
        } else if (effect == Effect::scale_rows) {
            for (RowShare& s : all) s.factor *= to_.values(w.a_step, w.a_row)[0];
        }
        return all;
    }

    void stretch(const Step& s, Index tick) {
        const auto at = under_way_.find({s.launch, s.event.block});
        if (at == under_way_.end()) return;
        RowVisit& v = told_[at->second].visit;
        if (v.turn == s.turn) v.to = tick;
    }

    /// The visit that a write belongs to: the current one of the thread block, or a new one where another iteration
    /// begins or scores are loaded again.
    Told& place(const Step& s, const RowWrite& w) {
        const Event& e = s.event;
        const auto at = under_way_.find({s.launch, e.block});
        const RowVisit* now = at == under_way_.end() ? nullptr : &told_[at->second].visit;
        const bool comes = w.form >= RowForm::scores && w.form <= RowForm::shares && e.region.cols.size > 0 &&
                           (s.kind() == Kind::load || w.form == RowForm::scores);
        const bool again = comes && s.kind() == Kind::load && now && now->keys.size > 0;
        if (!now || now->turn != s.turn || again) {
            under_way_[{s.launch, e.block}] = told_.size();
            told_.push_back({{s.launch, e.block, s.turn, {}, w.tick, w.tick, 0, 0, 0}, {}});
        }
        Told& told = told_[under_way_[{s.launch, e.block}]];
        RowVisit& v = told.visit;
        v.to = w.tick;
        if (!comes || v.keys.size > 0) return told;
        v.keys = e.region.cols;
        for (const Told& earlier : told_)
            v.pass += &earlier != &told && common(earlier.visit.keys, {v.keys.begin, 1}) > 0;
        return told;
    }

    /// Lists visits in the order in which they begin, and their writes visit by visit.
    void line_up() {
        for (Told& t : told_) {
            t.visit.first = to_.writes_.size();
            to_.writes_.insert(to_.writes_.end(), t.writes.begin(), t.writes.end());
            t.visit.last = to_.writes_.size();
            for (std::size_t k = t.visit.first; k < t.visit.last; ++k) {
                const Event& e = trace_[to_.writes_[k].step].event;
                const bool makes = e.kind() >= Kind::map && e.operation->effect != Effect::copy;
                if (makes && to_.writes_[k].form == RowForm::maximum) t.visit.update = static_cast<Index>(k);
            }
            to_.visits_.push_back(t.visit);
        }
    }

    RowStory& to_;
    const Trace& trace_;
    TileRows rows_;
    std::vector<Known> known_;     // by tile
    std::vector<RowForm> stored_;  // by tensor
    std::vector<Told> told_;
    std::map<std::pair<Index, Index>, std::size_t> under_way_;  // by launch and block
    std::map<Stored, std::vector<RowShare>> stored_shares_;
};

RowStory::RowStory(const Run& run, Index head, Index query) : run_(run), head_(head), query_(query) {
    if (tells_of(run)) RowReader reader(*this);
}

bool RowStory::tells_of(const Run& run) { return run.has_values() && !run.recorded().uses(Feature::weight_range); }

}  // namespace tilescope::show
