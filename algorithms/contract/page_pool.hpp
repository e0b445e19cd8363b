// Where the pages of a batch of sequences lie.
#pragma once

#include "algorithms/contract/paging.hpp"

namespace tilescope {

/// The pages of a batch of sequences of so many keys.
class PagePool {
  public:
    PagePool(const Paging& paging, Index batch, Index keys);

    Index of_a_sequence() const { return of_a_sequence_; }
    /// How many first pages of a sequence all sequences share.
    Index shared() const { return shared_; }
    Index pages() const { return shared_ + batch_ * (of_a_sequence_ - shared_); }
    /// Where page n of a sequence is in the pool.
    Index entry(Index sequence, Index n) const;
    /// Keys that still fit into the pages that there are.
    Index free_slots() const;

  private:
    Paging paging_;
    Index batch_, keys_, of_a_sequence_, shared_, stride_;
};

}  // namespace tilescope
