// A mask in blocks: which blocks of queries see which blocks of keys. Of a size of its own, whatever tiles there are.
#pragma once

#include <string>
#include <vector>

#include "core/machine/units.hpp"

namespace tilescope {

/// The blocks begin at query 0 and key 0; the last ones may reach beyond the matrix.
struct BlockMask {
    std::string name;  ///< "butterfly", or the file that it came from
    Index block_rows = 128, block_cols = 128;
    Index rows = 0, cols = 0;  ///< of blocks
    std::vector<bool> seen;    ///< row by row

    bool operator()(Index row, Index col) const { return seen[static_cast<std::size_t>(row * cols + col)]; }
    bool sees(Index query, Index key) const { return (*this)(query / block_rows, key / block_cols); }
    /// "butterfly in blocks of 128 x 128".
    std::string text() const;

    friend bool operator==(const BlockMask&, const BlockMask&) = default;
};

/// Beyond all positions.
inline constexpr Index endless = Index{1} << 60;

/// Sequences that were packed one after the other: a query sees keys of its own alone.
class Documents {
  public:
    /// So many keys each, none of them 0.
    explicit Documents(const std::vector<Index>& lengths);

    Index count() const { return static_cast<Index>(ends_.size()); }
    std::vector<Index> lengths() const;
    Index keys() const { return ends_.empty() ? 0 : ends_.back(); }
    /// Which one a position is in; -1 before the first.
    Index at(Index position) const;
    /// Where that one ends; 0 for what is before the first.
    Index end_of(Index document) const { return document < 0 ? 0 : ends_[static_cast<std::size_t>(document)]; }
    /// All positions of the documents that these are in. The last one has what comes after it, too, and what is before
    /// the first is in none.
    Span around(Span positions) const;

    friend bool operator==(const Documents&, const Documents&) = default;

  private:
    std::vector<Index> ends_;
};

}  // namespace tilescope
