#include "core/machine/seen.hpp"

#include <utility>

namespace tilescope {
namespace {

/// The sum over k = 0 .. n-1 of floor((a k + b) / m), for a, b >= 0: a Euclidean algorithm on the slope.
Count floor_sum(Index n, Index m, Index a, Index b) {
    Count sum = 0;
    while (n > 0) {
        sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
        a %= m, b %= m;
        const Index top = a * n + b;
        n = top / m, b = top % m;
        std::swap(m, a);
    }
    return sum;
}

Index floor_div(Index a, Index b) { return a >= 0 ? a / b : -ceil_div(-a, b); }

}  // namespace

Seen Seen::and_before_end(Index shift) const {
    Seen s = *this;
    s.end_ = shift;
    return s;
}

Seen Seen::and_after_begin(Index shift) const {
    Seen s = *this;
    s.begin_ = shift;
    return s;
}

Seen Seen::and_not_hidden(Covering covering, Reach reach) const {
    Seen s = *this;
    s.covering_ = std::move(covering), s.reach_ = std::move(reach);
    return s;
}

Seen Seen::by_rows(Index of_an_element) const {
    Seen s = *this;
    s.rows_ = of_an_element;
    return s;
}

Span Seen::elements(Span rows) const {
    const Index first = rows.begin / rows_;
    return {first, ceil_div(rows.end(), rows_) - first};
}

Tiles Seen::operator()(Span rows) const {
    const Span tile = elements(rows);
    const Index size = inner_.tile_size(), extent = inner_.extent();
    Tiles seen = inner_;
    if (begin_) {
        const Index first = std::max<Index>(0, tile.begin + *begin_);
        seen = first < extent ? seen.from(first / size) : seen.upto(0);
    }
    if (end_) seen = seen.upto(ceil_div(std::clamp<Index>(tile.end() + *end_, 0, extent), size));
    if (covering_) {
        const Span within = intersection(reach_(tile), {0, extent});
        seen = within.size > 0 ? seen.from(within.begin / size).upto(ceil_div(within.end(), size)) : seen.upto(0);
        seen = seen.only([&](Span inner) { return covering_(tile, inner) != Cover::hidden; });
    }
    return seen;
}

Seen Seen::in_tiles_of(Index size) const {
    Seen s = *this;
    s.inner_ = Tiles(inner_.extent(), size, inner_.name()).by_grade();
    return s;
}

Count Seen::pieces(Span tile, Index elements) const {
    const Tiles seen = (*this)(tile);
    if (seen.count() == 0) return 0;
    if (!covering_) return seen[seen.count() - 1].begin / elements - seen[0].begin / elements + 1;
    Count pieces = 0;
    for (Index k = 0, last = -1; k < seen.count(); ++k) {
        const Index piece = seen[k].begin / elements;
        pieces += piece != last, last = piece;
    }
    return pieces;
}

Count Seen::pieces(const Tiles& range, Index elements) const {
    if (!(end_ && begin_) && !covering_) {
        const Sum seeing = in_tiles_of(elements).sums(range).seeing;
        return seeing.full + seeing.ragged;
    }
    Count all = 0;
    for (Index k = 0; k < range.full(); ++k) all += pieces(range[k], elements);
    return all;
}

Index Seen::first_to_see_last(const Tiles& range) const {
    if (!end_) return 0;
    const Index last = (inner_.count() - 1) * inner_.tile_size();
    return std::clamp<Index>(floor_div((last - *end_) * rows_, range.tile_size()), 0, range.full());
}

Index Seen::partial(Span rows, const Tiles& tiles) const {
    const Span tile = elements(rows);
    // The view of the first element ends earliest, and that of the last begins latest: all see what is between.
    const Index size = inner_.tile_size(), extent = inner_.extent();
    Index whole_from = 0, whole_to = inner_.count();
    if (begin_) whole_from = ceil_div(std::clamp<Index>(tile.end() - 1 + *begin_, 0, extent), size);
    if (end_ && tile.begin + 1 + *end_ < extent) whole_to = std::max<Index>(0, tile.begin + 1 + *end_) / size;
    Tiles whole = tiles.from(whole_from).upto(whole_to);
    if (covering_) whole = whole.only([&](Span inner) { return covering_(tile, inner) == Cover::whole; });
    return tiles.count() - whole.count();
}

Seen::Sums Seen::sums(const Tiles& range) const {
    const Index n = range.full(), all = inner_.count();
    if (n == 0) return {};
    if (all == 0) return {{n}, {}};
    if (covering_ || (end_ && begin_) || ((end_ || begin_) && rows_ > 1)) return one_by_one(range);
    if (end_) return growing(range);
    if (begin_) return shrinking(range);
    return {{}, {n, n * inner_.full(), n * (inner_.ragged() ? 1 : 0), 0}};
}

/// Tile k ends at x = (k + 1) step + shift, and sees ceil(x / size) tiles: none while x <= 0, all from
/// x > (all - 1) size on.
Seen::Sums Seen::growing(const Tiles& range) const {
    const Index n = range.full(), step = range.tile_size(), size = inner_.tile_size(), all = inner_.count();
    const Index ragged = inner_.ragged() ? 1 : 0;
    const auto first_beyond = [&](Index x) { return std::clamp<Index>(floor_div(x - *end_, step), 0, n); };
    const Index blind = first_beyond(0), whole = std::max(blind, first_beyond((all - 1) * size));
    const Count some = floor_sum(whole - blind, size, step, (blind + 1) * step + *end_ + size - 1);
    return {{blind}, {n - blind, some + (n - whole) * (all - ragged), (n - whole) * ragged, n - 1, blind}};
}

/// Tile k begins at x = k step + shift, and sees all tiles but floor(x / size): all while x < size, none from
/// x >= extent on.
Seen::Sums Seen::shrinking(const Tiles& range) const {
    const Index n = range.full(), step = range.tile_size(), size = inner_.tile_size(), all = inner_.count();
    const Index ragged = inner_.ragged() ? 1 : 0;
    const auto first_from = [&](Index x) {
        return std::clamp<Index>(ceil_div(std::max<Index>(0, x - *begin_), step), 0, n);
    };
    const Index fewer = first_from(0), blind = std::max(fewer, first_from(inner_.extent()));
    const Count missed = floor_sum(blind - fewer, size, step, fewer * step + *begin_);
    return {{n - blind, 0, 0, n - 1, blind}, {blind, blind * (all - ragged) - missed, blind * ragged, 0}};
}

Seen::Sums Seen::one_by_one(const Tiles& range) const {
    Sums s;
    Index most = 0;
    for (Index k = 0; k < range.full(); ++k) {
        const Tiles seen = (*this)(range[k]);
        Sum& sum = seen.count() > 0 ? s.seeing : s.blind;
        ++sum.members, sum.full += seen.full(), sum.ragged += seen.ragged() ? 1 : 0;
        // A full tile weighs 2, a ragged one 3: of two equal counts, the one with a ragged tile wins.
        const Index weight = 2 * seen.full() + 3 * (seen.ragged() ? 1 : 0);
        if (sum.members == 1) sum.first = k;
        if (sum.members == 1 || weight > most) sum.position = k;
        if (seen.count() > 0) most = std::max(most, weight);
    }
    return s;
}

}  // namespace tilescope
