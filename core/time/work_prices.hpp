// What work on CUDA cores costs in a kernel with lanes: the price of a pass over the elements of a tile.
#pragma once

#include "core/machine/event.hpp"
#include "core/time/lane_programs.hpp"

namespace tilescope {

/// Work of one warpgroup on the elements of a tile, in cycles without a compiler's overhead.
struct TileWork {
    PerUnit busy{};
    double instructions = 0;  ///< of all threads, at the full rate

    void add(const TileWork& more);
};

class WorkPrices {
  public:
    WorkPrices(const Rates& rates, const LaneConstants& constants, const LanedKernel& kernel)
        : rates_(rates), c_(constants), kernel_(kernel) {}

    /// `part`: of the tile's rows that the warpgroup has; likewise below.
    TileWork of(const Event& event, const TileInfo& tile, double part) const;
    TileWork of_rounding(const TileInfo& tile, Dtype to, double part) const;
    /// Sets what the act takes that does this work. `slower`: a factor.
    void set(Act& act, const TileWork& work, double slower) const;

  private:
    const Rates& rates_;
    const LaneConstants& c_;
    const LanedKernel& kernel_;
};

}  // namespace tilescope
