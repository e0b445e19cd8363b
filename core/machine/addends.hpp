// Additions to tensors in HBM, in an order that does not depend on which threads run the thread blocks.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/machine/storage.hpp"
#include "core/machine/tensor.hpp"

namespace tilescope {

/// What the current thread block of a worker adds: at once, or kept until the blocks before it have added theirs.
class Addends {
  public:
    explicit Addends(bool at_once = true) : at_once_(at_once) {}

    void add(Storage& to, const Region& region, std::span<const float> values);
    /// Forgets all kept additions; returns a function that makes them, in the order of the calls. Empty: none kept.
    std::function<void()> take();

  private:
    struct Addend {
        Storage* to;
        Region region;
        std::vector<float> values;
        void add() const;
    };
    std::vector<Addend> kept_;
    bool at_once_;
};

}  // namespace tilescope
