// What a row would be if earlier sums were not rescaled.
#include <algorithm>
#include <cmath>
#include <limits>

#include "show/stage/row.hpp"

namespace tilescope::show {

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
    // The weights of each block: by the maximum of that moment (wrong), and by the final maximum (right).
    const RowMoment end = at(run_.ticks());
    std::vector<double> wrong, right;
    double wrong_sum = 0, right_sum = 0;
    for (const RowVisit& v : visits_) {
        if (v.pass > 0 || v.keys.size == 0) continue;
        const float m = std::max(m_before(v), m_updated(v, v.to).value_or(-std::numeric_limits<float>::infinity()));
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
    if (right_sum == 0) return f;  // the row sees no key
    f.error = right.empty() ? std::abs(right_sum / wrong_sum - 1) : std::sqrt(difference / size);
    return f;
}

/// Adds the values of a key, times its wrong and its right weight.
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

}  // namespace tilescope::show
