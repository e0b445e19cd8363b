// Microbenchmarks: small kernels, each of which keeps one part of the GPU busy, and their readings.
#pragma once

#include <array>

#include "core/machine/mode.hpp"
#include "device/device.hpp"
#include "device/reading.hpp"

namespace tilescope::device {

/// What there is to measure, in the order in which it is measured.
enum class Benchmark : std::uint8_t {
    mma,              ///< FLOPs of mma.sync per clock and SM
    fma,              ///< fused multiply-adds per clock and SM
    maximum,          ///< maxima per clock and SM
    conversion,       ///< conversions of two f32 to f16 per clock and SM
    exponential,      ///< exponentials per clock and SM
    shared_memory,    ///< bytes read per clock and SM
    l2,               ///< bytes read per clock by all SMs together, each from a part of its own
    one_sm,           ///< bytes read from L2 per clock by one SM alone
    copy,             ///< 10^9 bytes per second, read and written
    l2_latency,       ///< cycles of a load that hits L2
    dram_latency,     ///< cycles of a load that misses L2
    launch,           ///< microseconds from launch to launch
    cuda_clock,       ///< MHz under fused multiply-adds
    mma_light_clock,  ///< MHz under mma.sync, one thread block on each SM
    mma_clock,        ///< MHz under mma.sync, two thread blocks on each SM
};
inline constexpr std::size_t benchmark_count = 15;

using Readings = std::array<Reading, benchmark_count>;

/// Warms up and measures: a second or so. Throws Interrupted, OutOfDeviceMemory, else RunError for what CUDA refuses.
Reading measure(Benchmark what, const Device& device, Control* control);

}  // namespace tilescope::device
