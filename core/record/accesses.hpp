// The tiles of HBM that the thread blocks of one head load and store, in order: a listener for runs of chosen blocks.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/machine/event.hpp"
#include "core/record/region_hash.hpp"

namespace tilescope {

/// A load or a store of a tile.
struct Visit {
    std::uint32_t tile;  ///< an index into LaunchAccesses::tiles
    std::uint32_t step;  ///< loop iterations that this block had begun before
    bool write;
};

/// A rectangle of a slice.
struct HbmTile {
    TensorId tensor;
    Bytes bytes;
    Span rows;
};

struct LaunchAccesses {
    Index blocks = 0;                       ///< thread blocks of a head
    Index heads = 0;                        ///< tiles of the grid's first axis
    std::vector<HbmTile> tiles;             ///< of the first head; each head uses these in its own slices
    std::vector<std::vector<Visit>> block;  ///< by thread block of the first head
};

/// Listens to the thread blocks of the first head: those of the first tile of the first axis. Other heads do the same
/// in their slices.
class Accesses : public Listener {
  public:
    Needs needs() const override { return {.exact = true}; }
    bool wants(Index, Index block) override { return block < per_head_; }
    Index next_wanted(Index, Index from) override { return from < per_head_ ? from : none_wanted; }
    void begin(const LaunchMark& mark) override;
    void begin(const BlockMark&) override;
    void turn(const TurnMark&) override { ++step_; }
    void on(const Event& event, TileData data) override;

    const std::vector<LaunchAccesses>& launches() const { return launches_; }

  private:
    Index per_head_ = 0;
    std::uint32_t step_ = 0;
    std::unordered_map<Region, std::uint32_t, RegionHash> known_;
    std::vector<LaunchAccesses> launches_;
};

}  // namespace tilescope
