// Which elements of tensors have been stored, in exact modes: what was not has no value.
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
    /// The first of these rows that is not all covered between these columns.
    std::optional<Index> first_missing(Span rows, Span cols) const;

  private:
    using Columns = std::vector<Span>;  // that do not touch, in order
    std::map<Index, Columns>::iterator from(Index row);

    std::map<Index, Columns> rows_ = {{0, {}}};  // from that row to the next one that is named
};

/// What was stored in tensors that begin without values, as a thread block may know: by launches that are over, by
/// itself, and by those that had their turn before it.
class Written {
  public:
    /// `before`: what launches that are over stored; it must outlive this, and is left as it is.
    explicit Written(const Written* before = nullptr) : before_(before) {}

    /// From now on blocks of that party store and ask.
    void begin_block(Index party) { party_ = party; }
    void add(const Region& region);
    /// The first row of the region that is not all stored.
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
