// Which keys a query sees, as data: all, those up to its own place (causal), a window around it, those of its own
// document, those of some blocks; or the intersection of several of these.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/machine/ops.hpp"
#include "core/machine/seen.hpp"
#include "core/machine/stairs.hpp"

namespace tilescope {

struct BlockMask;
class Documents;
struct BlindQueries;

/// Which query and key are aligned: the last ones, as in FlashAttention since 2.1, or the first ones, as in PyTorch
/// (is_causal), JAX and ONNX. No difference where there are as many queries as keys.
enum class Corner : std::uint8_t { bottom_right, top_left };

/// The output of a query that sees no key. zero: 0, as in FlashAttention. mean: the mean of V, as in JAX, where hidden
/// logits are one finite number. unmasked: as without the mask, as in cuDNN, where a finite number is added to them.
enum class HiddenRows : std::uint8_t { zero, mean, unmasked };

/// Query r sees the keys from r + diagonal - left to r + diagonal + right, as far as they have values; `diagonal` is
/// seq_k - seq_q from the bottom right corner, and 0 from the top left. With documents, a query sees only keys of the
/// document that key r + diagonal is in. With a block mask, a query sees only keys in blocks whose entry is 1. With a
/// rule for hidden rows, a query that would see no key sees all of them, as they are (unmasked) or all alike (mean).
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
    /// The same mask, which also hides what blocks or documents hide.
    Mask with(BlockMask blocks) const;
    Mask with(Documents documents) const;
    /// With a rule for those of `queries` that see none of `keys` keys; as it is where there are none.
    Mask with(HiddenRows rule, Index queries, Index keys, Index diagonal) const;

    bool hides() const { return left_ || right_ || patterned(); }
    bool is_causal() const { return *this == causal(); }
    /// Whether the keys that a query sees need not be one span that moves on with it.
    bool patterned() const { return blocks_ || documents_ || blind_; }
    const std::optional<Index>& left() const { return left_; }
    const std::optional<Index>& right() const { return right_; }
    /// nullptr where there are none.
    const BlockMask* blocks() const { return blocks_.get(); }
    const Documents* documents() const { return documents_.get(); }
    const BlindQueries* blind() const { return blind_.get(); }  ///< hidden_rows.hpp; nullptr where hidden rows are 0
    HiddenRows hidden_rows() const;
    /// As CSV has it: "none", "causal", "window 127 0", "causal, 3 documents".
    std::string name() const;

    /// visible: the key tiles in which at least one row of a query tile sees a key. seeing: the query tiles of which at
    /// least one row sees a key of a key tile.
    Seen visible(Tiles keys, Index diagonal) const;
    Seen seeing(Tiles rows, Index diagonal) const;
    bool sees(Index row, Index key, Index diagonal) const;
    Cover cover(Span rows, Span keys, Index diagonal) const;
    Count pairs(Span rows, Span keys, Index diagonal) const;  ///< how many pairs of a row and a key that the row sees
    /// Sets the hidden logits of tile (rows, keys) to -inf, and all those of rows that get the mean of V to 0.
    /// `of_a_query`: how many consecutive rows belong to one query.
    void apply(Block& b, Tile& scores, Span rows, Span keys, Index diagonal, Index of_a_query, Here here) const;

    friend bool operator==(const Mask& a, const Mask& b);

  private:
    std::optional<Index> left_, right_;
    std::shared_ptr<const BlockMask> blocks_;
    std::shared_ptr<const Documents> documents_;
    std::shared_ptr<const BlindQueries> blind_;
};

}  // namespace tilescope
