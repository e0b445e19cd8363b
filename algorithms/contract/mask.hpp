// Which keys a query sees, as data: all, those up to its own place (causal), or a window around it.
#pragma once

#include <optional>
#include <string>

#include "core/machine/ops.hpp"
#include "core/machine/seen.hpp"

namespace tilescope {

/// What a tile of the score matrix is to a mask.
enum class Cover : std::uint8_t {
    hidden,   ///< no query of it sees any of its keys: skipped
    partial,  ///< masked
    whole,    ///< every query sees every key: left as it is
};

/// Query r sees the keys from r + diagonal - left to r + diagonal + right, as far as these are bounds; `diagonal` is
/// seq_k - seq_q, so that the last query stands at the last key (bottom-right alignment).
class Mask {
  public:
    Mask() = default;  ///< hides nothing
    static Mask causal() { return window(std::nullopt, 0); }
    /// `left` keys before a query's own place and `right` after it; without a number, all of them.
    static Mask window(std::optional<Index> left, std::optional<Index> right) {
        Mask m;
        m.left_ = left, m.right_ = right;
        return m;
    }

    bool hides() const { return left_ || right_; }
    bool is_causal() const { return *this == causal(); }
    const std::optional<Index>& left() const { return left_; }
    const std::optional<Index>& right() const { return right_; }
    /// "none", "causal", "window 127 0".
    std::string name() const;

    /// The key tiles in which at least one row of a query tile sees a key; the query tiles of which at least one row
    /// sees a key of a key tile.
    Seen visible(Tiles keys, Index diagonal) const;
    Seen seeing(Tiles rows, Index diagonal) const;
    bool sees(Index row, Index key, Index diagonal) const;
    Cover cover(Span rows, Span keys, Index diagonal) const;
    /// Sets the logits of tile (rows, keys) that are hidden to -inf, where there are any. `of_a_query`: rows that stand
    /// for one query each.
    void apply(Block& b, Tile& scores, Span rows, Span keys, Index diagonal, Index of_a_query, Here here) const;

    friend bool operator==(const Mask&, const Mask&) = default;

  private:
    std::optional<Index> left_, right_;
};

}  // namespace tilescope
