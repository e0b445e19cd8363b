// Lanes and rings. A lane is some warps of a thread block with a role of their own, as where copies and products are
// asynchronous (arXiv 2407.08608, section 3.1). A ring is slots in SRAM through which tiles go from lane to lane. A
// tile is the token: its holder may use it, and its slot is free once it is given back. Without lanes and rings the
// counts and results are the same, except chip memory: a ring takes all its slots at once, a lane all its registers.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/machine/block.hpp"
#include "core/machine/lane_info.hpp"

namespace tilescope {

/// Places for tiles of rows x cols elements, filled in turn, again and again. A ring must outlive its tiles.
class Ring {
  public:
    /// Whole tiles that it holds at a time.
    Index slots() const { return static_cast<Index>(filled_.size()); }

  private:
    friend class Block;
    Ring(Tile place, Index elements, Index slots, Index cluster)
        : place_(std::move(place)), elements_(elements), cluster_(cluster), filled_(static_cast<std::size_t>(slots)) {}

    Tile place_;
    Index elements_;  // of a tile
    Index cluster_;   // thread blocks that receive each tile together
    struct Filled {
        std::uint32_t place = 0;  // ChipMemory::Slot of this tile
        TileId tile = no_tile;
    };
    std::vector<Filled> filled_;  // by slot: what was loaded there last
    std::size_t next_ = 0;
};

/// Access to a Block: until the end of the expression, the lane issues the Block's operations.
class Issue {
  public:
    Issue(const Issue&) = delete;
    Issue& operator=(const Issue&) = delete;
    ~Issue() { block_.issue_for(before_); }
    Block* operator->() const { return &block_; }
    operator Block&() const { return block_; }

  private:
    friend class Lane;
    Issue(Block& block, LaneId lane) : block_(block), before_(block.issue_for(lane)) {}

    Block& block_;
    LaneId before_;
};

/// Used as in `producer->load(kv, K, j)` and `row_max(*consumer, s)`.
class Lane {
  public:
    Issue operator->() const { return {*block_, id_}; }
    Issue operator*() const { return {*block_, id_}; }

  private:
    friend class Block;
    Lane(Block& block, LaneId id, std::optional<Tile> registers)
        : block_(&block), id_(id), registers_(std::move(registers)) {}

    Block* block_;
    LaneId id_;
    std::optional<Tile> registers_;  // threads x registers of a thread
};

}  // namespace tilescope
