#pragma once

#include <optional>
#include <unordered_map>

#include "core/record/recorded.hpp"
#include "core/record/region_hash.hpp"

namespace tilescope {

/// Where the contents lie that the steps of a recording wrote. Most of what is loaded lies there already, as an earlier
/// step left or found it, and most of what is stored, as the tile had it: such contents are kept once.
class Contents {
  public:
    /// Where `data` lies in `values` already, if it does: what a load brought or a store left of a tile. Tiles are
    /// numbered as in Step.
    std::optional<std::size_t> find(const std::vector<float>& values, const Event& event, TileId stored,
                                    TileData data) const;
    /// From now on these are what the step's tile and region hold.
    void note(const Step& step);

  private:
    struct Place {
        std::size_t first, size;
    };
    std::unordered_map<Region, Place, RegionHash> of_region_;
    std::vector<Place> of_tile_;
};

}  // namespace tilescope
