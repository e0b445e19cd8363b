#include "core/machine/seen.hpp"

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

Tiles Seen::operator()(Span tile) const {
    const Index size = inner_.tile_size(), extent = inner_.extent();
    if (part_ == Part::before_end)
        return inner_.upto(ceil_div(std::clamp<Index>(tile.end() + shift_, 0, extent), size));
    if (part_ == Part::after_begin) {
        const Index first = std::max<Index>(0, tile.begin + shift_);
        return first < extent ? inner_.from(first / size) : inner_.upto(0);
    }
    return inner_;
}

Seen::Sums Seen::sums(const Tiles& range) const {
    const Index n = range.full(), step = range.tile_size(), size = inner_.tile_size(), all = inner_.count();
    const Index ragged = inner_.ragged() ? 1 : 0;
    Sums s;
    if (part_ == Part::all || n == 0 || all == 0) {
        (all > 0 ? s.seeing : s.blind) = {n, n * inner_.full(), n * ragged};
        return s;
    }
    if (part_ == Part::before_end) {
        // Tile k reaches x = (k + 1) step + shift, and sees ceil(x / size) tiles: none while x <= 0, all from
        // x > (all - 1) size on.
        const auto first_beyond = [&](Index x) { return std::clamp<Index>(floor_div(x - shift_, step), 0, n); };
        const Index seeing = first_beyond(0), whole = std::max(seeing, first_beyond((all - 1) * size));
        const Count some = floor_sum(whole - seeing, size, step, (seeing + 1) * step + shift_ + size - 1);
        s.blind.members = seeing;
        s.seeing = {n - seeing, some + (n - whole) * (all - ragged), (n - whole) * ragged};
        s.most = n - 1;
    } else {
        // Tile k begins at x = k step + shift, and sees all tiles but floor(x / size): all while x < size, none from
        // x >= extent on.
        const auto first_from = [&](Index x) {
            return std::clamp<Index>(ceil_div(std::max<Index>(0, x - shift_), step), 0, n);
        };
        const Index fewer = first_from(0), blind = std::max(fewer, first_from(inner_.extent()));
        const Count missed = floor_sum(blind - fewer, size, step, fewer * step + shift_);
        s.blind.members = n - blind;
        s.seeing = {blind, blind * (all - ragged) - missed, blind * ragged};
        s.most = 0;
    }
    return s;
}

}  // namespace tilescope
