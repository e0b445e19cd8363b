// Types of sizes: indices, byte counts, half-open spans of rows or columns, and their division into tiles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

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

/// How many positions two spans have in common.
constexpr Index common(Span a, Span b) {
    return std::max<Index>(0, std::min(a.end(), b.end()) - std::max(a.begin, b.begin));
}

/// [0, n) cut into tiles of `size`, the last one ragged where `size` does not divide n. `upto` and `from` limit a range
/// to a contiguous part, `only` to some of its tiles; the tiles that remain keep their positions.
class Tiles {
  public:
    /// `name`, a string literal, is what the tiles' index is called where a loop or an axis runs over them: "i", "j".
    Tiles(Index n, Index size, const char* name = "") : n_(n), size_(size), last_(ceil_div(n, size)), name_(name) {}

    Index count() const { return last_ - first_; }
    Index tile_size() const { return size_; }
    /// How many of the tiles have exactly `tile_size()` elements; only the last tile can be smaller.
    Index full() const { return count() - (ragged() ? 1 : 0); }
    bool ragged() const { return count() > 0 && end() > n_; }
    /// Elements covered by the tiles of this range.
    Index extent() const { return count() * size_ - (ragged() ? end() - n_ : 0); }

    Span operator[](Index k) const {
        const Index begin = position(first_ + k) * size_;
        return {begin, std::min(size_, n_ - begin)};
    }

    /// The numbers, within this range, of the tiles that overlap `span`, a part of [0, n); none where `span` is empty.
    Span touched(Span span) const;
    /// upto: tiles before position k of [0, n). from: tiles at position k or later. within: tiles that begin in `s`.
    Tiles upto(Index k) const;
    Tiles from(Index k) const;
    Tiles within(Span s) const { return from(ceil_div(s.begin, size_)).upto(ceil_div(s.end(), size_)); }
    /// The tiles for which `wanted` returns true.
    Tiles only(const std::function<bool(Span)>& wanted) const;

    const char* name() const { return name_; }
    /// Whether the number of these tiles depends on the tile of a `graded` axis or loop around (core/machine/grid.hpp).
    bool graded() const { return graded_; }
    Tiles by_grade() const;

  private:
    Index position(Index number) const { return some_ ? (*some_)[static_cast<std::size_t>(number)] : number; }
    /// The end of the last tile, in elements, as if this tile were full.
    Index end() const { return (position(last_ - 1) + 1) * size_; }
    Index number_from(Index position) const;  // of the first tile at `position` or later

    Index n_, size_, first_ = 0, last_;
    const char* name_;
    bool graded_ = false;
    std::shared_ptr<const std::vector<Index>> some_;  // the positions of the tiles, where `only` chose them; null: all
};

}  // namespace tilescope
