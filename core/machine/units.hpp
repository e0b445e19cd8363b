// The words of size: indices, byte counts, half-open spans of rows or columns, and their division into tiles.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tilescope {

using Index = std::int64_t;
using Bytes = std::int64_t;
using Count = std::int64_t;

constexpr Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

/// The half-open range [begin, begin + size) of rows, columns or grid positions.
struct Span {
    Index begin = 0;
    Index size = 0;

    constexpr Index end() const { return begin + size; }
    friend constexpr bool operator==(const Span&, const Span&) = default;
};

/// How many positions they have in common.
constexpr Index common(Span a, Span b) {
    return std::max<Index>(0, std::min(a.end(), b.end()) - std::max(a.begin, b.begin));
}

/// [0, n) cut into tiles of `size`, the last one ragged where `size` does not divide n. Tiles can be limited to a
/// contiguous part of themselves with `upto` and `from`, which keep the positions of the tiles that stay.
class Tiles {
  public:
    /// `name`, a string literal, is what the tiles' index is called where a loop or an axis runs over them: "i", "j".
    constexpr Tiles(Index n, Index size, const char* name = "") : Tiles(n, size, 0, ceil_div(n, size), name, false) {}

    constexpr Index count() const { return last_ - first_; }
    constexpr Index tile_size() const { return size_; }
    /// How many of the tiles have exactly `tile_size()` elements; only the last tile can be smaller.
    constexpr Index full() const { return count() - (ragged() ? 1 : 0); }
    constexpr bool ragged() const { return count() > 0 && last_ * size_ > n_; }
    /// Elements covered by the tiles of this range.
    constexpr Index extent() const { return count() > 0 ? std::min(last_ * size_, n_) - first_ * size_ : 0; }

    constexpr Span operator[](Index k) const {
        const Index begin = (first_ + k) * size_;
        return {begin, std::min(size_, n_ - begin)};
    }

    /// Positions of the tiles that have some of `span`, a part of [0, n); none of nothing.
    constexpr Span touched(Span span) const {
        const Index first = std::clamp(span.begin / size_, first_, last_);
        const Index last = span.size > 0 ? std::clamp(ceil_div(span.end(), size_), first_, last_) : first;
        return {first - first_, last - first};
    }

    /// The tiles before position k of the whole range (clamped).
    constexpr Tiles upto(Index k) const { return {n_, size_, first_, std::clamp(k, first_, last_), name_, graded_}; }
    /// The tiles from position k of the whole range on (clamped).
    constexpr Tiles from(Index k) const { return {n_, size_, std::clamp(k, first_, last_), last_, name_, graded_}; }
    /// The tiles that begin within `s`, a span of elements.
    constexpr Tiles within(Span s) const { return from(ceil_div(s.begin, size_)).upto(ceil_div(s.end(), size_)); }

    constexpr const char* name() const { return name_; }
    /// Whether how many these are depends on where a `graded` axis or loop around them stands (core/machine/grid.hpp).
    constexpr bool graded() const { return graded_; }
    constexpr Tiles by_grade() const { return {n_, size_, first_, last_, name_, true}; }

  private:
    constexpr Tiles(Index n, Index size, Index first, Index last, const char* name, bool graded)
        : n_(n), size_(size), first_(first), last_(last), name_(name), graded_(graded) {}

    Index n_, size_, first_, last_;
    const char* name_;
    bool graded_;
};

}  // namespace tilescope
