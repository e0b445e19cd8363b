// What a tile of a graded range sees of an inner range: all of it, a part that moves on with the tile, or every inner
// tile that is not hidden from it.
#pragma once

#include <functional>
#include <optional>

#include "core/machine/units.hpp"

namespace tilescope {

/// How much of an inner tile a tile sees.
enum class Cover : std::uint8_t {
    hidden,   ///< no element of the tile sees any of the inner tile: skipped
    partial,  ///< anything in between: masked
    whole,    ///< every element sees all of the inner tile: not masked
};

/// The positions that are in both spans; empty where there are none.
constexpr Span intersection(Span a, Span b) { return {std::max(a.begin, b.begin), common(a, b)}; }

class Seen {
  public:
    /// How much the elements of a tile see of the elements of an inner tile.
    using Covering = std::function<Cover(Span elements, Span inner)>;
    /// A span of inner elements. All others are hidden from the tile, and Covering is not called for them.
    using Reach = std::function<Span(Span elements)>;

    /// Sees all inner tiles.
    explicit Seen(Tiles inner) : inner_(inner.by_grade()) {}
    /// Limits what is seen to inner tiles that begin before the tile's end + `shift`, in elements.
    Seen and_before_end(Index shift) const;
    /// Limits what is seen to inner tiles that end after the tile's begin + `shift`, in elements.
    Seen and_after_begin(Index shift) const;
    /// Limits what is seen to inner tiles that are not hidden.
    Seen and_not_hidden(Covering covering, Reach reach) const;
    /// The same for tiles of rows, `of_an_element` rows an element. A tile sees what the elements of its rows see.
    Seen by_rows(Index of_an_element) const;

    Tiles operator()(Span rows) const;
    /// Whether every tile sees all inner tiles.
    bool all() const { return !end_ && !begin_ && !covering_; }
    /// Whether a tile may see any set of inner tiles, not only a contiguous part that moves on with it.
    bool scattered() const { return static_cast<bool>(covering_); }
    /// How many of `tiles`, the inner tiles that the tile `rows` sees, are not seen whole by all of its elements.
    Index partial(Span rows, const Tiles& tiles) const;
    /// The number of the first full tile of a range that sees the last inner tile, if any does.
    Index first_to_see_last(const Tiles& range) const;
    /// The inner range is cut into pieces of so many elements, whole inner tiles each. In how many pieces a tile sees
    /// something; and the sum of these numbers over the full tiles of a range.
    Count pieces(Span tile, Index elements) const;
    Count pieces(const Tiles& range, Index elements) const;
    Index tile_size() const { return inner_.tile_size(); }
    Index extent() const { return inner_.extent(); }

    /// Full tiles of a range that see something, or that see nothing: how many there are, and how many full and ragged
    /// inner tiles they see together. Of tiles that see equally many, `position` prefers one that sees a ragged tile.
    struct Sum {
        Count members = 0, full = 0, ragged = 0;
        Index position = 0, first = 0;  ///< numbers of a tile that sees most, and of the first tile
    };
    struct Sums {
        Sum blind, seeing;
    };
    /// In closed form where the visible part grows or shrinks all along the range; else tile by tile.
    Sums sums(const Tiles& range) const;

  private:
    Seen in_tiles_of(Index size) const;
    Sums growing(const Tiles& range) const;
    Sums shrinking(const Tiles& range) const;
    Sums one_by_one(const Tiles& range) const;
    Span elements(Span rows) const;

    Tiles inner_;
    Index rows_ = 1;                    // of an element
    std::optional<Index> end_, begin_;  // shifts
    Covering covering_;
    Reach reach_;
};

}  // namespace tilescope
