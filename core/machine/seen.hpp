// What a tile of a graded range sees of an inner range: all of it, a part that begins and ends further on with the
// tile, or whatever is not hidden from it.
#pragma once

#include <functional>
#include <optional>

#include "core/machine/units.hpp"

namespace tilescope {

/// What an inner tile is to a tile.
enum class Cover : std::uint8_t {
    hidden,   ///< no element of the tile sees any of it: skipped
    partial,  ///< masked
    whole,    ///< every element sees all of it: left as it is
};

/// The positions that both have; empty where there are none.
constexpr Span intersection(Span a, Span b) { return {std::max(a.begin, b.begin), common(a, b)}; }

class Seen {
  public:
    /// Of the elements of an inner tile to those of a tile.
    using Covering = std::function<Cover(Span elements, Span inner)>;
    /// The inner elements beyond which all are hidden from those of a tile: what is not asked for one by one.
    using Reach = std::function<Span(Span elements)>;

    /// All of them.
    explicit Seen(Tiles inner) : inner_(inner.by_grade()) {}
    /// Of these, the ones that begin before the end of the tile, `shift` further.
    Seen and_before_end(Index shift) const;
    /// Of these, the ones that end after the begin of the tile, `shift` further.
    Seen and_after_begin(Index shift) const;
    /// Of these, the ones that are not hidden.
    Seen and_not_hidden(Covering covering, Reach reach) const;
    /// The same for tiles of rows, so many of which stand for one element each: a part of them is as good as all.
    Seen by_rows(Index of_an_element) const;

    Tiles operator()(Span rows) const;
    /// Whether every tile sees all of them.
    bool all() const { return !end_ && !begin_ && !covering_; }
    /// Whether a tile may see any of them, not a part that moves on with it.
    bool scattered() const { return static_cast<bool>(covering_); }
    /// How many of `tiles`, of those that it sees, not every element of the tile sees whole: those that a mask crosses.
    Index partial(Span rows, const Tiles& tiles) const;
    /// The first full tile of a range that sees the last inner tile, if any does: it begins earliest of those.
    Index first_to_see_last(const Tiles& range) const;
    /// Of how many pieces of so many elements, whole inner tiles each, a tile sees some; and full tiles of a range
    /// together.
    Count pieces(Span tile, Index elements) const;
    Count pieces(const Tiles& range, Index elements) const;
    Index tile_size() const { return inner_.tile_size(); }
    Index extent() const { return inner_.extent(); }

    /// Full tiles of a range, by whether they see anything: how many, and how many full and ragged inner tiles they see
    /// together. The one that sees most has a ragged tile if any has.
    struct Sum {
        Count members = 0, full = 0, ragged = 0;
        Index position = 0, first = 0;  ///< of one that sees most, and of the first
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
