// Which elements of tensors have been stored, in exact modes. An element that was not stored has no value.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "core/machine/tensor.hpp"

namespace tilescope {

/// The union of rectangles of one matrix.
class Covered {
  public:
    void add(Span rows, Span cols);
    /// The first of these rows in which not all of these columns are covered.
    std::optional<Index> first_missing(Span rows, Span cols) const;

  private:
    using Columns = std::vector<Span>;  // in order; no two of them touch
    std::map<Index, Columns>::iterator from(Index row);

    std::map<Index, Columns> rows_ = {{0, {}}};  // by first row: the columns covered from there to the next key
};

/// What was stored in tensors that begin without values, as far as a thread block can rely on it: stores of earlier
/// launches, its own, and those of blocks that took their turn before it.
class Written {
  public:
    /// `before`: what earlier launches stored. It must outlive this object, and is not changed.
    explicit Written(const Written* before = nullptr) : before_(before) {}

    /// The calls that follow are for thread blocks of this party: blocks that take turns with each other.
    void begin_block(Index party) { party_ = party; }
    void add(const Region& region);
    /// The first row of the region that was not stored in whole.
    std::optional<Index> first_missing(const Region& region) const;
    void forget() { all_.clear(); }

  private:
    using Key = std::tuple<Index, TensorId, Index>;  // party, tensor, slice

    const Covered& known(const Region& region) const;

    std::map<Key, Covered> all_;
    const Written* before_;
    Index party_ = 0;
};

}  // namespace tilescope
