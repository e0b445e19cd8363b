#include "show/row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

namespace tilescope::show {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// What a tile holds after an operation, by its formula and by what it and its operand held before.
RowForm form_after(const Event& e, RowForm out, RowForm a) {
    if (e.kind() == Kind::product)
        return e.meaning == Meaning::score ? RowForm::scores : e.meaning == Meaning::output ? RowForm::output : out;
    if (e.kind() == Kind::alloc) return RowForm::other;
    const std::string_view formula = e.operation->formula;
    const auto has = [&](const char* word) { return formula.find(word) != formula.npos; };
    if (has("rowmax")) return RowForm::maximum;
    if (has("rowsum")) return RowForm::sum;
    if (has("exp")) return out == RowForm::scores ? RowForm::weights : RowForm::factor;
    if (has("log")) return RowForm::other;
    if (has("max(")) return RowForm::maximum;
    if (has("o / a")) return out == RowForm::weights ? RowForm::shares : out == RowForm::sum ? RowForm::factor : out;
    const bool takes = formula == "o ← a" || (formula == "o += a" && out == RowForm::other);
    return takes ? a : out;
}

}  // namespace

/// Goes through the thread blocks of a head once, and keeps what is written of the row.
class RowReader {
  public:
    RowReader(RowStory& to) : to_(to), run_(to.run_), trace_(run_.trace()), tiles_(trace_.tiles().size()) {
        std::iota(tiles_.begin(), tiles_.end(), TileId{0});
        find_ours();
        align();
        read();
    }

  private:
    struct Known {
        RowForm form = RowForm::other;
        Index written = -1;
    };

    void find_ours() {
        for (const Placement& p : run_.schedule().placements())
            ours_[{p.launch, p.block}] = run_.head_of(p) == to_.head_;
    }
    bool ours(const Step& s) {
        if (s.kind() <= Kind::block_end) return false;
        if (last_ != std::pair(s.launch, s.event.block))
            last_ = {s.launch, s.event.block}, last_is_ours_ = ours_[last_];
        return last_is_ours_;
    }
    TileId root(TileId t) {
        while (tiles_[t] != t) t = tiles_[t] = tiles_[tiles_[t]];
        return t;
    }
    void join(TileId a, TileId b) {
        if (a != no_tile && b != no_tile && trace_.tiles()[a].rows == trace_.tiles()[b].rows) tiles_[root(a)] = root(b);
    }

    /// Tiles that operations take row by row have the same rows: those of their scores, or of what is stored.
    void align() {
        std::map<TileId, Span> scores, moved;
        for (Index k = 0; k < trace_.size(); ++k) {
            const Step& s = trace_[k];
            const Event& e = s.event;
            if (!ours(s) || !works(s.kind())) continue;
            if (!s.moves_data() && !e.reads[0].transposed) join(e.out, e.a());
            const TileId t = s.tile();
            if (t == no_tile || e.region.rows.size != trace_.tiles()[t].rows) continue;
            const Meaning of = s.moves_data() ? trace_.tensors()[e.region.tensor].meaning : e.meaning;
            const Index rows = s.moves_data() ? trace_.tensors()[e.region.tensor].rows : 0;
            if (of == Meaning::score) scores.try_emplace(t, e.region.rows);
            if (rows == run_.recorded().seq_q && (of == Meaning::query || of == Meaning::output))
                moved.try_emplace(t, e.region.rows);
        }
        for (const auto* from : {&scores, &moved})
            for (const auto& [t, span] : *from) rows_.try_emplace(root(t), span);
    }

    void read() {
        std::vector<Known> known(trace_.tiles().size());
        std::vector<RowForm> stored;
        for (const RecordedTensor& t : trace_.tensors())
            stored.push_back(t.meaning == Meaning::score ? RowForm::scores : RowForm::other);
        Index tick = 1;
        for (Index k = 0; k < trace_.size(); ++k) {
            while (run_.schedule().steps_after(tick) <= k) ++tick;
            const Step& s = trace_[k];
            const Event& e = s.event;
            if (!ours(s) || s.kind() == Kind::release) continue;
            if (s.kind() == Kind::store) {
                RowForm& form = stored[e.region.tensor];
                if (known[e.a()].form != RowForm::other) form = known[e.a()].form;
                if (const auto at = rows_.find(root(e.a())); at != rows_.end() && common(at->second, {to_.query_, 1}))
                    stretch(s, tick);
                continue;
            }
            Known& out = known[e.out];
            const Known a = e.a() == no_tile ? Known{} : known[e.a()];
            const Index before = out.written;
            out.written = k;
            const RowForm loaded = s.kind() == Kind::load ? stored[e.region.tensor] : RowForm::other;
            out.form = s.kind() == Kind::load ? loaded : form_after(e, out.form, a.form);
            keep({tick, k, 0, out.form, a.written, before, 0}, s);
        }
    }

    void keep(RowWrite w, const Step& s) {
        const Event& e = s.event;
        const auto at = rows_.find(root(e.out));
        if (at == rows_.end() || common(at->second, {to_.query_, 1}) == 0) return;
        w.row = w.a_row = to_.query_ - at->second.begin;
        if (trace_.tiles()[e.out].meaning == Meaning::query) return;
        place(s, w);
        to_.writes_.push_back(w);
        ++to_.visits_.back().last;
    }

    void stretch(const Step& s, Index tick) {
        if (to_.visits_.empty()) return;
        RowVisit& v = to_.visits_.back();
        if (v.launch == s.launch && v.block == s.event.block && v.turn == s.turn) v.to = tick;
    }

    /// Into the visit that is under way, or a new one: of another turn, or where the same scores come again.
    void place(const Step& s, const RowWrite& w) {
        const Event& e = s.event;
        auto& visits = to_.visits_;
        const RowVisit* now = visits.empty() ? nullptr : &visits.back();
        const bool comes = w.form >= RowForm::scores && w.form <= RowForm::shares && e.region.cols.size > 0 &&
                           (s.kind() == Kind::load || w.form == RowForm::scores);
        const bool again = comes && s.kind() == Kind::load && now && now->keys.size > 0;
        if (!now || now->launch != s.launch || now->block != e.block || now->turn != s.turn || again)
            visits.push_back(
                {s.launch, e.block, s.turn, {}, w.tick, w.tick, 0, to_.writes_.size(), to_.writes_.size()});
        RowVisit& v = visits.back();
        v.to = w.tick;
        if (!comes || v.keys.size > 0) return;
        v.keys = e.region.cols;
        for (const RowVisit& earlier : visits) v.pass += &earlier != &v && common(earlier.keys, {v.keys.begin, 1}) > 0;
    }

    RowStory& to_;
    const Run& run_;
    const Trace& trace_;
    std::vector<TileId> tiles_;  // another one with the same rows, or itself
    std::map<TileId, Span> rows_;
    std::map<std::pair<Index, Index>, bool> ours_;
    std::pair<Index, Index> last_{-1, -1};
    bool last_is_ours_ = false;
};

RowStory::RowStory(const Run& run, Index head, Index query) : run_(run), head_(head), query_(query) {
    if (run.has_values()) RowReader(*this);
}

std::span<const float> RowStory::values(Index step, Index row) const {
    const Step& s = run_.trace()[step];
    const auto cols = static_cast<std::size_t>(run_.trace().tiles()[s.tile()].cols);
    return run_.trace().values(s).subspan(static_cast<std::size_t>(row) * cols, cols);
}

const RowVisit* RowStory::visit_at(Index tick) const {
    const RowVisit* at = nullptr;
    for (const RowVisit& v : visits_)
        if (v.from <= tick && (!at || v.from >= at->from)) at = &v;
    return at;
}

bool RowStory::takes_maxima() const {
    return std::any_of(writes_.begin(), writes_.end(), [](const RowWrite& w) { return w.form == RowForm::maximum; });
}

Index RowStory::passes(Index tick) const {
    Index most = 0;
    for (const RowVisit& v : visits_)
        if (v.keys.size > 0 && v.from <= tick) most = std::max(most, v.pass + 1);
    return most;
}

/// The running maximum when the visit began: the largest that was written, for copies of older ones may come later.
float RowStory::m_before(const RowVisit& visit, Index tick) const {
    float m = -infinity;
    for (const RowVisit& v : visits_) {
        if (&v == &visit || v.from > tick) break;
        for (std::size_t k = v.first; k < v.last; ++k)
            if (writes_[k].form == RowForm::maximum && writes_[k].tick <= tick) m = std::max(m, values(writes_[k])[0]);
    }
    return m;
}

namespace {

float weight_at(float weight, float reference, float m) {
    if (m == -infinity || reference == m) return weight;
    return weight * std::exp(reference - m);
}

}  // namespace

void RowStory::tell_keys(RowMoment& m, Index tick) const {
    const Problem& p = run_.recorded();
    m.keys.resize(static_cast<std::size_t>(p.seq_k));
    for (Index k = 0; k < p.seq_k; ++k)
        if (!p.sees(query_, k)) m.keys[static_cast<std::size_t>(k)].state = RowKey::State::masked;
    std::vector<bool> visited(m.keys.size(), false);
    for (const RowVisit& v : visits_) {
        for (Index k = v.keys.begin; k < v.keys.end(); ++k) visited[static_cast<std::size_t>(k)] = true;
        if (v.keys.size == 0 || v.from > tick) continue;
        for (std::size_t n = v.first; n < v.last && writes_[n].tick <= tick; ++n) {
            const RowWrite& w = writes_[n];
            if (w.form != RowForm::scores && w.form != RowForm::weights && w.form != RowForm::shares) continue;
            if (run_.trace()[w.step].kind() == Kind::alloc) continue;
            const auto row = values(w);
            if (static_cast<Index>(row.size()) != v.keys.size) continue;
            // What a weight was taken against.
            const bool exponential =
                w.form == RowForm::weights && w.a_step >= 0 && row.size() != 0 &&
                std::string_view(run_.trace()[w.step].event.operation->formula).find("exp") != std::string_view::npos;
            const float against = exponential ? values(w.a_step, w.a_row)[0] : 0;
            const bool raw = w.form == RowForm::weights && !exponential && w.a_step < 0;
            for (std::size_t c = 0; c < row.size(); ++c) {
                RowKey& key = m.keys[static_cast<std::size_t>(v.keys.begin) + c];
                if (w.form == RowForm::scores) {
                    key.score = row[c];
                    if (key.state != RowKey::State::masked) key.state = RowKey::State::known;
                } else if (exponential || raw) {
                    key.weight = raw ? row[c] : weight_at(row[c], against, m.m);
                    key.was = raw || m.m_was == -infinity ? key.weight : weight_at(row[c], against, m.m_was);
                    key.has_weight = true;
                }
            }
        }
    }
    for (std::size_t k = 0; k < m.keys.size(); ++k) {
        RowKey& key = m.keys[k];
        if (!visited[k] && key.state == RowKey::State::masked) key.state = RowKey::State::skipped;
        key.now = m.visit && common(m.visit->keys, {static_cast<Index>(k), 1}) > 0;
        if (key.now) key.was = key.weight;
    }
}

void RowStory::tell_sums(RowMoment& m, Index tick) const {
    m.lines = lines(*m.visit, tick);
    m.all = lines(*m.visit, m.visit->to);
    const auto adds = [](const RowLine& l) { return l.form == RowForm::sum && l.added; };
    const bool runs = std::any_of(m.all.begin(), m.all.end(), adds);
    for (const RowLine& l : m.lines) {
        if (l.form == RowForm::maximum) m.m_line = &l;
        if (l.form == RowForm::sum && l.added == runs) m.sum_line = &l;
        if (l.form == RowForm::output && (l.added || !m.output_line || m.output_line->tile == l.tile))
            m.output_line = &l;
    }
    for (const RowVisit& v : visits_) {
        if (v.from > tick) break;
        for (std::size_t k = v.first; k < v.last && writes_[k].tick <= tick; ++k) {
            if (writes_[k].form != RowForm::output) continue;
            const auto row = values(writes_[k]);
            m.output.assign(row.begin(), row.end());
        }
        if (&v == m.visit) break;
    }
    // The nearest earlier visit that has one.
    for (const RowVisit* v = m.visit; !m.has_sum && v-- != visits_.data();) {
        const std::vector<RowLine> done = lines(*v, v->to);
        const bool ran = std::any_of(done.begin(), done.end(), adds);
        for (const RowLine& l : done)
            if (l.form == RowForm::sum && l.added == ran) m.sum = l.now[0], m.has_sum = true;
    }
    m.has_sum |= m.sum_line != nullptr;
    if (m.sum_line) m.sum = m.sum_line->now[0];
    if (m.output_line) m.output = m.output_line->now;
}

RowMoment RowStory::at(Index tick) const {
    RowMoment m;
    m.overflows = !takes_maxima();
    m.visit = visit_at(tick);
    if (m.visit) {
        m.m = m.m_was = m_before(*m.visit, tick);
        m.has_m = m.m != -infinity;
        for (std::size_t k = m.visit->first; k < m.visit->last && writes_[k].tick <= tick; ++k)
            if (writes_[k].form == RowForm::maximum) m.m = std::max(m.m, values(writes_[k])[0]), m.has_m = true;
        tell_sums(m, tick);
    }
    tell_keys(m, tick);
    return m;
}

Forgotten RowStory::forgotten() const {
    if (!forgotten_) forgotten_ = forget();
    return *forgotten_;
}

Forgotten RowStory::forget() const {
    Forgotten f;
    for (const RowVisit& v : visits_)
        for (const RowLine& l : lines(v, v.to)) {
            if (!l.scaled || !l.added || v.keys.size == 0) continue;
            f.possible = true;
            f.rescales_output |= l.form == RowForm::output;
        }
    if (!f.possible) return f;
    // Each block's weights as they were when it came, and as they should be.
    const RowMoment end = at(run_.ticks());
    std::vector<double> wrong, right;
    double wrong_sum = 0, right_sum = 0;
    for (const RowVisit& v : visits_) {
        if (v.pass > 0 || v.keys.size == 0) continue;
        const float m = at(v.to).m;
        for (Index k = v.keys.begin; k < v.keys.end(); ++k) {
            const RowKey& key = end.keys[static_cast<std::size_t>(k)];
            if (key.state != RowKey::State::known) continue;
            const double w = std::exp(static_cast<double>(key.score) - static_cast<double>(m));
            const double r = std::exp(static_cast<double>(key.score) - static_cast<double>(end.m));
            wrong_sum += w, right_sum += r;
            add_values(k, f.rescales_output ? w : r, r, wrong, right);
        }
    }
    double difference = 0, size = 0;
    for (std::size_t c = 0; c < right.size(); ++c) {
        const double is = right[c] / right_sum;
        difference += std::pow(wrong[c] / wrong_sum - is, 2), size += is * is;
    }
    if (right_sum == 0) return f;  // it sees no key
    f.error = right.empty() ? std::abs(right_sum / wrong_sum - 1) : std::sqrt(difference / size);
    return f;
}

/// A key's values, times its weights.
void RowStory::add_values(Index key, double w, double r, std::vector<double>& wrong, std::vector<double>& right) const {
    for (const RecordedTensor& t : run_.trace().tensors()) {
        if (t.meaning != Meaning::value || t.role != Role::input) continue;
        wrong.resize(static_cast<std::size_t>(t.cols)), right.resize(wrong.size());
        const Index first = (head_ / t.heads_per_slice * t.rows + key) * t.cols;
        for (std::size_t c = 0; c < wrong.size(); ++c) {
            const auto v = static_cast<double>(t.initial[static_cast<std::size_t>(first) + c]);
            wrong[c] += w * v, right[c] += r * v;
        }
    }
}

const RowStory& RowStories::of(const Run& run, Index head, Index query, std::uint64_t version) {
    return told_.of(version, {&run, head, query}, [&] { return RowStory(run, head, query); });
}

RowPlace row_place(const Run& run, const Wall& wall, const std::vector<Painter>& painters, Index focus, Index row) {
    Span queries = wall.row(0);
    if (const Painter* p = looked_at(painters, focus)) {
        queries = p->visit->queries;
    } else {
        // Nobody is at work: the rows of who was last.
        for (const Visit& v : wall.visits())
            if (v.from <= run.tick()) queries = v.queries;
    }
    return {wall.head(), queries.begin + std::min(row, queries.size - 1), queries};
}

}  // namespace tilescope::show
