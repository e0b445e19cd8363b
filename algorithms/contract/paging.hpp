// K and V in pages, as servers keep them: a pool of pages, and for each sequence of the batch a row of a table that
// says in which page of the pool its keys n P to n P + P - 1 are.
#pragma once

#include <cstdint>

#include "core/machine/units.hpp"

namespace tilescope {

/// The order of the pages in the pool: sequence after sequence, or scattered, as in a server that has run for a while.
enum class PageOrder : std::uint8_t { identity, permuted };

struct Paging {
    Index size = 0;    ///< P, keys of a page; 0: K and V lie in one piece
    Index shared = 0;  ///< keys that all sequences begin with, a system prompt: its whole pages are stored once
    PageOrder order = PageOrder::identity;

    explicit operator bool() const { return size > 0; }
    friend bool operator==(const Paging&, const Paging&) = default;
};

}  // namespace tilescope
