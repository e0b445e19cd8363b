#include "core/machine/covered.hpp"

#include <algorithm>
#include <iterator>

namespace tilescope {
namespace {

void join(std::vector<Span>& all, Span added) {
    const auto first = std::find_if(all.begin(), all.end(), [&](Span s) { return s.end() >= added.begin; });
    const auto last = std::find_if(first, all.end(), [&](Span s) { return s.begin > added.end(); });
    if (first != last) {
        const Index begin = std::min(first->begin, added.begin), end = std::max(std::prev(last)->end(), added.end());
        added = {begin, end - begin};
    }
    all.insert(all.erase(first, last), added);
}

}  // namespace

/// Splits the range of rows that contains `row`, so that a range begins there.
std::map<Index, Covered::Columns>::iterator Covered::from(Index row) {
    return rows_.try_emplace(row, std::prev(rows_.upper_bound(row))->second).first;
}

void Covered::add(Span rows, Span cols) {
    if (rows.size == 0 || cols.size == 0) return;
    const auto last = from(rows.end()), first = from(rows.begin);
    for (auto k = first; k != last; ++k) join(k->second, cols);
    // Joins each range of rows to the range before it where both have the same columns.
    for (auto k = first == rows_.begin() ? std::next(first) : first, end = std::next(last); k != end;)
        k = k->second == std::prev(k)->second ? rows_.erase(k) : std::next(k);
}

std::optional<Index> Covered::first_missing(Span rows, Span cols) const {
    if (cols.size == 0) return std::nullopt;
    const auto holds = [&](Span s) { return s.begin <= cols.begin && cols.end() <= s.end(); };
    for (auto k = std::prev(rows_.upper_bound(rows.begin)); k != rows_.end() && k->first < rows.end(); ++k)
        if (std::none_of(k->second.begin(), k->second.end(), holds)) return std::max(k->first, rows.begin);
    return std::nullopt;
}

const Covered& Written::known(const Region& r) const {
    static const Covered nothing;
    const auto own = all_.find({party_, r.tensor, r.slice});
    return own != all_.end() ? own->second : before_ ? before_->known(r) : nothing;
}

void Written::add(const Region& r) {
    const auto [own, is_new] = all_.try_emplace({party_, r.tensor, r.slice});
    if (is_new && before_) own->second = before_->known(r);
    own->second.add(r.rows, r.cols);
}

std::optional<Index> Written::first_missing(const Region& r) const { return known(r).first_missing(r.rows, r.cols); }

}  // namespace tilescope
