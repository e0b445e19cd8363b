#include <cstdio>

#include "core/text/message.hpp"
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
    : RunError(text::message("device.out_of_memory", gigabytes(need), gigabytes(have))), needed(need), free(have) {}

}  // namespace tilescope::device
