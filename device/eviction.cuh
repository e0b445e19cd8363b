// Drives the data of earlier kernels out of the L2.
#pragma once

#include "device/cuda_objects.cuh"

namespace tilescope::device {

/// Reads other data, four times the size of the L2, so that the L2 holds nothing else. The data is read, not written,
/// because the next kernel would have to wait while the L2 writes dirty lines back.
class Eviction {
  public:
    Eviction();
    void enqueue(const Stream& stream) const;

  private:
    std::size_t size_;  ///< bytes
    Buffer other_, sink_;
};

}  // namespace tilescope::device
