// Finding thread blocks of a launch that store to the same elements.
#pragma once

#include <set>
#include <tuple>
#include <vector>

#include "core/machine/mistakes.hpp"
#include "core/machine/tensor.hpp"

namespace tilescope {

/// A rectangle that a thread block stored, at that pseudo-code line.
struct Stored {
    Region region;
    Index block;
    std::uint16_t line;
};

/// The stores of some thread blocks of a launch.
class Stores {
  public:
    void begin_block(Index block);
    /// Once for each rectangle of the current block.
    void add(const Region& region, std::uint16_t line);
    void take_from(Stores& other);
    /// Throws Race where two blocks overlap; forgets all.
    void check(Index launch, const char* kernel, const std::vector<const char*>& tensors);

  private:
    std::vector<Stored> all_;
    Index block_ = 0;
    std::set<std::tuple<TensorId, Index, Index, Index, Index, Index>> seen_;  // of the current block
};

}  // namespace tilescope
