// What a tile of a graded range sees of an inner range: all of it, or a part that begins and ends further on with the
// tile.
#pragma once

#include <optional>

#include "core/machine/units.hpp"

namespace tilescope {

class Seen {
  public:
    /// All of them.
    explicit Seen(Tiles inner) : inner_(inner.by_grade()) {}
    /// Of these, the ones that begin before the end of the tile, `shift` further.
    Seen and_before_end(Index shift) const;
    /// Of these, the ones that end after the begin of the tile, `shift` further.
    Seen and_after_begin(Index shift) const;

    Tiles operator()(Span tile) const;
    /// Whether every tile sees all of them.
    bool all() const { return !end_ && !begin_; }
    /// How many of these not every element of the tile sees whole: those that a mask crosses.
    Index partial(Span tile) const;

    /// Full tiles of a range, by whether they see anything: how many, and how many full and ragged inner tiles they see
    /// together. The one that sees most has a ragged tile if any has.
    struct Sum {
        Count members = 0, full = 0, ragged = 0;
        Index position = 0, first = 0;  ///< of one that sees most, and of the first
    };
    struct Sums {
        Sum blind, seeing;
    };
    /// In closed form where the part grows or shrinks all along the range; tile by tile where it does both.
    Sums sums(const Tiles& range) const;

  private:
    Sums growing(const Tiles& range) const;
    Sums shrinking(const Tiles& range) const;
    Sums one_by_one(const Tiles& range) const;

    Tiles inner_;
    std::optional<Index> end_, begin_;  // shifts
};

}  // namespace tilescope
