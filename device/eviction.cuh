// Taking from the L2 what a kernel may have left there.
#pragma once

#include "device/cuda_objects.cuh"

namespace tilescope::device {

/// Reads something else until the L2 has nothing but that, in what is not dirty: what is written over has to be written
/// back first, at the cost of whoever comes next.
class Eviction {
  public:
    Eviction();
    void enqueue(const Stream& stream) const;

  private:
    std::size_t size_;  ///< bytes
    Buffer other_, sink_;
};

}  // namespace tilescope::device
