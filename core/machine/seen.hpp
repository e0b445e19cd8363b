// What a tile of a graded range sees of an inner range: all of it, a part that moves on with the tile, or every inner
// tile that is not hidden from it.
#pragma once

#include <functional>
#include <optional>

#include "core/machine/units.hpp"

namespace tilescope {

/// How much of an inner tile a tile sees.
enum class Cover : std::uint8_t {
    hidden,   ///< no element of the tile sees any of it: skipped
    partial,  ///< anything in between: masked
    whole,    ///< every element sees all of it: left as it is
};

/// The positions that both have; empty where there are none.
constexpr Span intersection(Span a, Span b) { return {std::max(a.begin, b.begin), common(a, b)}; }

class Seen {
  public:
    /// How much the elements of a tile see of the elements of an inner tile.
    using Covering = std::function<Cover(Span elements, Span inner)>;
    /// The span of inner elements outside which all are hidden from the tile. Covering is not asked about those.
    using Reach = std::function<Span(Span elements)>;

    /// Sees all inner tiles.
    explicit Seen(Tiles inner) : inner_(inner.by_grade()) {}
    /// Of these, only the inner tiles that begin before the tile's end + `shift`, in elements.
    Seen and_before_end(Index shift) const;
    /// Of these, only the inner tiles that end after the tile's begin + `shift`, in elements.
    Seen and_after_begin(Index shift) const;
    /// Of these, the ones that are not hidden.
    Seen and_not_hidden(Covering covering, Reach reach) const;
    /// The same for tiles of rows, where so many rows stand for one element: having some rows of it is as good as all.
    Seen by_rows(Index of_an_element) const;

    Tiles operator()(Span rows) const;
    /// Whether every tile sees all of them.
    bool all() const { return !end_ && !begin_ && !covering_; }
    /// Whether a tile may see any set of inner tiles, not only a contiguous part that moves on with it.
    bool scattered() const { return static_cast<bool>(covering_); }
    /// How many of `tiles`, which the tile sees, some of its elements do not see whole: those that a mask crosses.
    Index partial(Span rows, const Tiles& tiles) const;
    /// The first full tile of a range that sees the last inner tile, if any does. It begins before all others that do.
    Index first_to_see_last(const Tiles& range) const;
    /// The inner range is cut into pieces of `elements`, whole inner tiles each. In how many pieces a tile sees
    /// something; and the sum of this over the full tiles of a range.
    Count pieces(Span tile, Index elements) const;
    Count pieces(const Tiles& range, Index elements) const;
    Index tile_size() const { return inner_.tile_size(); }
    Index extent() const { return inner_.extent(); }

    /// Full tiles of a range that see something, or that see nothing: how many there are, and how many full and ragged
    /// inner tiles they see together. The one that sees most has a ragged tile if any has.
    struct Sum {
        Count members = 0, full = 0, ragged = 0;
        Index position = 0, first = 0;  ///< `position`: of one that sees most; `first`: of the first
    };
    struct Sums {
        Sum blind, seeing;
    };
    /// In closed form where the part grows or shrinks all along the range; else tile by tile.
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
