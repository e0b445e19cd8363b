#pragma once

#include <optional>
#include <unordered_map>

#include "core/record/recorded.hpp"
#include "core/record/region_hash.hpp"

namespace tilescope {

/// Where the contents that the steps of a recording wrote lie in its values. Most loads bring what an earlier step
/// stored to or loaded from the same region, and most stores leave what the tile holds: such contents are kept once.
class Contents {
  public:
    /// Where in `values` the data that a load brought or a store left lies already; nullopt: nowhere. `stored`: the
    /// tile of a store, numbered as in Step.
    std::optional<std::size_t> find(const std::vector<float>& values, const Event& event, TileId stored,
                                    TileData data) const;
    /// Notes that the step's tile and region now hold the step's values.
    void note(const Step& step);

  private:
    struct Place {
        std::size_t first, size;
    };
    std::unordered_map<Region, Place, RegionHash> of_region_;
    std::vector<Place> of_tile_;
};

}  // namespace tilescope
