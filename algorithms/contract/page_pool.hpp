// Where the pages of a batch of sequences lie.
#pragma once

#include "algorithms/contract/paging.hpp"

namespace tilescope {

/// The pages of a batch of sequences that have `keys` keys each.
class PagePool {
  public:
    PagePool(const Paging& paging, Index batch, Index keys);

    Index of_a_sequence() const { return of_a_sequence_; }
    /// With how many shared pages each sequence begins.
    Index shared() const { return shared_; }
    Index pages() const { return shared_ + batch_ * (of_a_sequence_ - shared_); }
    /// Where page n of a sequence is in the pool.
    Index entry(Index sequence, Index n) const;
    /// How many keys still fit into the last pages of the sequences.
    Index free_slots() const;

  private:
    Paging paging_;
    Index batch_, keys_, of_a_sequence_, shared_, stride_;
};

}  // namespace tilescope
