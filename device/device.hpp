// The GPU that kernels run on, or why there is none.
#pragma once

#include <optional>
#include <string>

#include "core/machine/units.hpp"

namespace tilescope::device {

struct Device {
    std::string name, compute_capability;
    Index sms = 0;
    Bytes l2 = 0, memory = 0, memory_free = 0;
    Bytes shared_per_block = 0;   ///< the most shared memory that a thread block may use
    std::string driver, runtime;  ///< versions
    Bytes shared_per_sm = 0, registers_per_sm = 0;
    Index max_warps_per_sm = 0, max_blocks_per_sm = 0;
    double clock_mhz = 0;   ///< the highest
    double memory_gbs = 0;  ///< memory clock x bus width, two transfers a clock; 0 where the driver does not say
};

/// The device that find_device() found, or why there is none.
struct DeviceSearch {
    std::optional<Device> device;
    std::string missing;  ///< a sentence
    std::string fix;      ///< as a part of a sentence: "update the driver, or rebuild tilescope ..."
};
/// The first CUDA device, which is the one that kernels run on.
DeviceSearch find_device();

}  // namespace tilescope::device
