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

/// Which query and key are aligned: the last ones, as in FlashAttention since 2.1, or the first ones, as in PyTorch
/// (is_causal), JAX and ONNX. No difference where there are as many queries as keys.
enum class Corner : std::uint8_t { bottom_right, top_left };

/// Query r sees the keys from r + diagonal - left to r + diagonal + right, as far as they have values; `diagonal` is
/// seq_k - seq_q from the bottom right corner, and 0 from the top left. With documents, a query sees only keys of the
/// document that key r + diagonal is in. With a block mask, a query sees only keys in blocks whose entry is 1.
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

    bool hides() const { return left_ || right_ || patterned(); }
    bool is_causal() const { return *this == causal(); }
    /// Whether there is a pattern: a block mask or documents. The keys that a query sees then need not be one span.
    bool patterned() const { return blocks_ || documents_; }
    const std::optional<Index>& left() const { return left_; }
    const std::optional<Index>& right() const { return right_; }
    /// nullptr where there are none.
    const BlockMask* blocks() const { return blocks_.get(); }
    const Documents* documents() const { return documents_.get(); }
    /// As CSV has it: "none", "causal", "window 127 0", "causal, 3 documents".
    std::string name() const;

    /// visible: the key tiles in which at least one row of a query tile sees a key. seeing: the query tiles of which at
    /// least one row sees a key of a key tile.
    Seen visible(Tiles keys, Index diagonal) const;
    Seen seeing(Tiles rows, Index diagonal) const;
    bool sees(Index row, Index key, Index diagonal) const;
    Cover cover(Span rows, Span keys, Index diagonal) const;
    Count pairs(Span rows, Span keys, Index diagonal) const;  ///< how many pairs of a row and a key that the row sees
    /// Sets the hidden logits of tile (rows, keys) to -inf; does nothing where none is hidden. `of_a_query`: how many
    /// consecutive rows belong to one query.
    void apply(Block& b, Tile& scores, Span rows, Span keys, Index diagonal, Index of_a_query, Here here) const;

    friend bool operator==(const Mask& a, const Mask& b);

  private:
    Cover band(Span rows, Span keys, Index diagonal) const;
    bool pattern_sees(Index row, Index key, Index diagonal) const;
    /// The span of keys (or rows) outside of which documents hide everything from these rows (or keys).
    Span keys_reached(Span rows, Index diagonal) const;
    Span rows_reached(Span keys, Index diagonal) const;
    /// Divides rows x keys into parts that the pattern shows as a whole or hides as a whole, and calls f(rows, keys,
    /// shown) for each part until f returns false. f is not called for parts that documents hide.
    template <class F>
    void each_part(Span rows, Span keys, Index diagonal, F&& f) const;
    Span alike_rows(Span rows, Index diagonal) const;
    Span alike_keys(Span keys) const;

    std::optional<Index> left_, right_;
    std::shared_ptr<const BlockMask> blocks_;
    std::shared_ptr<const Documents> documents_;
};

}  // namespace tilescope
