// K and V in pages, as servers keep them: a pool of pages, and for each sequence of the batch a row of a table that
// says in which page of the pool its keys n P to n P + P - 1 are.
#pragma once

#include <cstdint>

#include "core/machine/units.hpp"

namespace tilescope {

/// In which order the pages of the sequences lie in the pool: one after the other, or as a server that has been running
/// for a while has them.
enum class PageOrder : std::uint8_t { identity, permuted };
inline constexpr PageOrder page_orders[] = {PageOrder::identity, PageOrder::permuted};
const char* name_of(PageOrder order);

struct Paging {
    Index size = 0;    ///< P, keys of a page; 0: K and V lie in one piece
    Index shared = 0;  ///< keys that all sequences begin with, a system prompt: the whole pages of these are there once
    PageOrder order = PageOrder::identity;

    explicit operator bool() const { return size > 0; }
    friend bool operator==(const Paging&, const Paging&) = default;
};

/// The pages of a batch of sequences of so many keys.
class PagePool {
  public:
    PagePool(const Paging& paging, Index batch, Index keys);

    Index of_a_sequence() const { return of_a_sequence_; }
    /// Of each sequence, the first ones, which all have.
    Index shared() const { return shared_; }
    Index pages() const { return shared_ + batch_ * (of_a_sequence_ - shared_); }
    /// Where page n of a sequence is in the pool.
    Index entry(Index sequence, Index n) const;
    /// Keys that there is room for beyond those that there are.
    Index free_slots() const;

  private:
    Paging paging_;
    Index batch_, keys_, of_a_sequence_, shared_, stride_;
};

}  // namespace tilescope
