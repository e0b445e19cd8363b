#include "show/stage/row.hpp"

#include <algorithm>
#include <limits>

namespace tilescope::show {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// The line of a visit that has the sum of weights: preferably a line to which weights were added.
const RowLine* running_sum(const std::vector<RowLine>& lines) {
    const RowLine* sum = nullptr;
    for (const RowLine& l : lines)
        if (l.form == RowForm::sum && (l.added || !sum || !sum->added)) sum = &l;
    return sum;
}

}  // namespace

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

/// Whether other thread blocks of the same launch have other keys of the row.
bool RowStory::is_of_part(const RowVisit& visit) const {
    return std::any_of(visits_.begin(), visits_.end(),
                       [&](const RowVisit& v) { return v.keys.size > 0 && v.is_beside(visit); });
}

/// The running maximum when the visit began: over earlier visits of its own thread block and of earlier launches.
float RowStory::m_before(const RowVisit& visit) const {
    float m = -infinity;
    for (const RowVisit& v : visits_) {
        if (&v == &visit) break;
        if (v.update >= 0 && !v.is_beside(visit)) m = std::max(m, *m_updated(v, v.to));
    }
    return m;
}

/// The running maximum after the update of the visit; nothing where the update comes after this tick, or never.
std::optional<float> RowStory::m_updated(const RowVisit& v, Index tick) const {
    if (v.update < 0) return {};
    const RowWrite& w = writes_[static_cast<std::size_t>(v.update)];
    return w.tick <= tick ? std::optional(values(w)[0]) : std::nullopt;
}

void RowStory::tell_maximum(RowMoment& m, Index tick) const {
    m.m = m.m_was = m_before(*m.visit);
    const std::optional<float> updated = m_updated(*m.visit, tick);
    m.m_updated = updated.has_value();
    m.m = std::max(m.m, updated.value_or(m.m));
    m.has_m = m.m_updated || m.m != -infinity;
    m.in_part = is_of_part(*m.visit);
}

/// Takes the weights that an exponential has written, with their values at that moment.
void RowStory::take_weights(std::vector<Weight>& to, const RowWrite& w, Span keys) const {
    const Event& e = run_.trace()[w.step].event;
    if (w.form != RowForm::weights || !takes_exponential(e.operation->effect)) return;
    const auto row = values(w);
    if (static_cast<Index>(row.size()) != keys.size) return;
    for (std::size_t c = 0; c < row.size(); ++c)
        to[static_cast<std::size_t>(keys.begin) + c] = {.value = row[c], .there = true};
}

/// A weight in a sum is scaled with the sum: takes its value in the latest sum that includes it.
void RowStory::take_summed(std::vector<Weight>& to, Index tick) const {
    for (auto v = visits_.rbegin(); v != visits_.rend(); ++v)
        for (std::size_t k = v->last; v->from <= tick && k-- > v->first;) {
            const auto at = writes_[k].tick <= tick ? shares_.find(writes_[k].step) : shares_.end();
            if (at == shares_.end()) continue;
            for (const RowShare& s : at->second) {
                const auto row = values(s.step, s.row);
                for (std::size_t c = 0; c < row.size() && static_cast<Index>(c) < s.keys.size; ++c)
                    if (Weight& w = to[static_cast<std::size_t>(s.keys.begin) + c]; !w.summed)
                        w = {.value = row[c] * s.factor, .there = true, .summed = true};
            }
        }
}

std::vector<RowStory::Weight> RowStory::weights(Index tick) const {
    std::vector<Weight> all(static_cast<std::size_t>(run_.recorded().seq_k));
    for (const RowVisit& v : visits_)
        for (std::size_t k = v.first; v.from <= tick && k < v.last && writes_[k].tick <= tick; ++k)
            take_weights(all, writes_[k], v.keys);
    take_summed(all, tick);
    return all;
}

void RowStory::tell_keys(RowMoment& m, Index tick) const {
    const Problem& p = run_.recorded();
    m.keys.resize(static_cast<std::size_t>(p.seq_k));
    for (Index k = 0; k < p.seq_k; ++k)
        if (!p.sees(query_, k)) m.keys[static_cast<std::size_t>(k)].state = RowKey::State::masked;
    std::vector<bool> visited(m.keys.size(), false);
    for (const RowVisit& v : visits_) {
        for (Index k = v.keys.begin; k < v.keys.end(); ++k) visited[static_cast<std::size_t>(k)] = true;
        for (std::size_t n = v.first; v.from <= tick && n < v.last && writes_[n].tick <= tick; ++n) {
            if (writes_[n].form != RowForm::scores || run_.trace()[writes_[n].step].kind() == Kind::alloc) continue;
            const auto row = values(writes_[n]);
            for (std::size_t c = 0; static_cast<Index>(row.size()) == v.keys.size && c < row.size(); ++c) {
                RowKey& key = m.keys[static_cast<std::size_t>(v.keys.begin) + c];
                key.score = row[c];
                if (key.state != RowKey::State::masked) key.state = RowKey::State::known;
            }
        }
    }
    const std::vector<Weight> now = weights(tick), before = weights(m.visit ? m.visit->from - 1 : tick);
    for (std::size_t k = 0; k < m.keys.size(); ++k) {
        RowKey& key = m.keys[k];
        if (!visited[k] && key.state == RowKey::State::masked) key.state = RowKey::State::skipped;
        key.now = m.visit && common(m.visit->keys, {static_cast<Index>(k), 1}) > 0;
        key.weight = now[k].value, key.has_weight = now[k].there;
        key.was = before[k].there && !key.now ? before[k].value : key.weight;
    }
    const auto summed = shares_.find(m.sum_step);
    for (const RowShare& s : summed == shares_.end() ? std::vector<RowShare>() : summed->second)
        for (Index k = s.keys.begin; k < s.keys.end(); ++k) m.keys[static_cast<std::size_t>(k)].in_sum = true;
}

/// m.lines: the lines of the visit so far. m.all: its lines at the end, which begin with those of m.lines.
void RowStory::tell_sums(RowMoment& m, Index tick) const {
    m.lines = lines(*m.visit, tick);
    m.all = lines(*m.visit, m.visit->to);
    for (std::size_t k = 0; k < m.lines.size(); ++k)
        if (&m.all[k] == running_sum(m.all)) m.sum_line = &m.lines[k];
    const auto tell = [&](const RowLine& sum) { m.sum = sum.now[0], m.sum_step = sum.step, m.has_sum = true; };
    if (m.sum_line) tell(*m.sum_line);
    // Else the nearest earlier visit's sum; but the sum of a part of the keys is not the row's sum.
    for (const RowVisit* v = m.visit; !m.has_sum && v-- != visits_.data();) {
        if (v->is_beside(*m.visit) || (v->launch != m.visit->launch && is_of_part(*v))) continue;
        const std::vector<RowLine> done = lines(*v, v->to);
        if (const RowLine* sum = running_sum(done)) tell(*sum);
    }
}

void RowStory::tell_output(RowMoment& m, Index tick) const {
    for (const RowLine& l : m.lines)
        if (l.form == RowForm::output && (l.added || !m.output_line || m.output_line->tile == l.tile))
            m.output_line = &l;
    for (const RowVisit& v : visits_) {
        if (v.from > tick) break;
        for (std::size_t k = v.first; !v.is_beside(*m.visit) && k < v.last && writes_[k].tick <= tick; ++k) {
            if (writes_[k].form != RowForm::output) continue;
            const auto row = values(writes_[k]);
            m.output.assign(row.begin(), row.end());
        }
        if (&v == m.visit) break;
    }
    if (m.output_line) m.output = m.output_line->now;
}

RowMoment RowStory::at(Index tick) const {
    RowMoment m;
    m.overflows = !takes_maxima();
    m.visit = visit_at(tick);
    if (m.visit) tell_maximum(m, tick), tell_sums(m, tick), tell_output(m, tick);
    tell_keys(m, tick);
    return m;
}

const RowStory& RowStories::of(const Run& run, Index head, Index query, std::uint64_t version) {
    return told_.of(version, {&run, head, query}, [&] { return RowStory(run, head, query); });
}

RowPlace row_place(const Run& run, const Wall& wall, const std::vector<Painter>& painters, Index focus, Index row) {
    Span queries = wall.row(0);
    if (const Painter* p = looked_at(painters, focus)) {
        queries = p->visit->queries;
    } else {
        // Where no SM is at work, the rows of the last visit that has begun.
        for (const Visit& v : wall.visits())
            if (v.from <= run.tick()) queries = v.queries;
    }
    return {wall.head(), queries.begin + std::min(row, queries.size - 1), queries};
}

}  // namespace tilescope::show
