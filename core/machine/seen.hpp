// What a tile of a graded range sees of an inner range: all of it, or a part that grows or shrinks along the range.
#pragma once

#include "core/machine/units.hpp"

namespace tilescope {

class Seen {
  public:
    /// All of them.
    explicit Seen(Tiles inner) : Seen(inner, Part::all, 0) {}
    /// Those that begin before the end of the tile, `shift` further.
    static Seen before_end(Tiles inner, Index shift) { return {inner, Part::before_end, shift}; }
    /// Those that end after the begin of the tile, `shift` further.
    static Seen after_begin(Tiles inner, Index shift) { return {inner, Part::after_begin, shift}; }

    Tiles operator()(Span tile) const;

    /// Full tiles of a range, by whether they see anything: how many, and how many full and ragged inner tiles they see
    /// together. In closed form, however many there are.
    struct Sum {
        Count members = 0, full = 0, ragged = 0;
    };
    struct Sums {
        Sum blind, seeing;
        Index most = 0;  ///< the position of one that sees most
    };
    Sums sums(const Tiles& range) const;

  private:
    enum class Part : std::uint8_t { all, before_end, after_begin };
    Seen(Tiles inner, Part part, Index shift) : inner_(inner.by_grade()), part_(part), shift_(shift) {}

    Tiles inner_;
    Part part_;
    Index shift_;
};

}  // namespace tilescope
