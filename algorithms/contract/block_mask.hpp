// A mask in blocks: which blocks of queries see which blocks of keys. Blocks have their own size, whatever the tiles.
#pragma once

#include <string>
#include <vector>

#include "core/machine/units.hpp"

namespace tilescope {

/// The blocks begin at query 0 and key 0; the last ones may reach beyond the matrix.
struct BlockMask {
    std::string name;  ///< "butterfly", or the file that it came from
    Index block_rows = 128, block_cols = 128;
    Index rows = 0, cols = 0;  ///< numbers of blocks
    std::vector<bool> seen;    ///< row by row

    bool operator()(Index row, Index col) const { return seen[static_cast<std::size_t>(row * cols + col)]; }
    bool sees(Index query, Index key) const { return (*this)(query / block_rows, key / block_cols); }

    friend bool operator==(const BlockMask&, const BlockMask&) = default;
};

/// A position beyond all others.
inline constexpr Index endless = Index{1} << 60;

/// Sequences that were packed one after the other: a query sees only keys of its own document.
class Documents {
  public:
    /// `lengths`: how many keys each document has, at least 1.
    explicit Documents(const std::vector<Index>& lengths);

    Index count() const { return static_cast<Index>(ends_.size()); }
    std::vector<Index> lengths() const;
    Index keys() const { return ends_.empty() ? 0 : ends_.back(); }
    /// The document of a position; -1 before the first.
    Index at(Index position) const;
    /// Where a document ends; 0 for document -1.
    Index end_of(Index document) const { return document < 0 ? 0 : ends_[static_cast<std::size_t>(document)]; }
    /// All positions of the documents that these positions are in. Positions after the last document belong to it;
    /// those before the first belong to none.
    Span around(Span positions) const;

    friend bool operator==(const Documents&, const Documents&) = default;

  private:
    std::vector<Index> ends_;
};

}  // namespace tilescope
