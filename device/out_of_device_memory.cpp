#include <cstdio>

#include "device/kernel_run.hpp"

namespace tilescope::device {
namespace {

std::string gigabytes(Bytes n) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GB", static_cast<double>(n) / 1e9);
    return text;
}

}  // namespace

OutOfDeviceMemory::OutOfDeviceMemory(Bytes need, Bytes have)
    : RunError("needs " + gigabytes(need) + " of device memory, " + gigabytes(have) + " are free"),
      needed(need),
      free(have) {}

}  // namespace tilescope::device
