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

    // On compute capability 9.0 alone. Rates are per clock and SM; "beside" is beside two warpgroups of wgmma m64n128.
    wgmma_64,            ///< FLOPs of wgmma m64n64 by two warpgroups, operands in shared memory
    wgmma_128,           ///< of m64n128
    wgmma_256,           ///< of m64n256
    wgmma_64_registers,  ///< the same with A in registers
    wgmma_128_registers,
    wgmma_256_registers,
    notice,          ///< cycles from the end of a product until the warpgroup that waits for it goes on
    maximum_beside,  ///< maxima of one warpgroup
    conversion_beside,
    exponential_beside,
    scaled_exponential_beside,  ///< pairs of a fused multiply-add and an exponential
    shuffle,                    ///< shuffles of one warpgroup alone
    shuffle_beside,
    fma_beside,
    wgmma_beside_fma,  ///< FLOPs beside a warpgroup of fused multiply-adds
    barrier,           ///< cycles of a named barrier, one way
    mbarrier,          ///< the same of an mbarrier
    row_shuffles,      ///< cycles of two shuffles, each with a maximum
    bulk_latency,      ///< cycles of a bulk copy from L2 beyond the transfer of its bytes
    bulk_port,         ///< bytes that an SM that was idle takes in
    bulk,              ///< bytes that each of all SMs gets, each of tiles of its own
    bulk_by_4,         ///< the same where four SMs ask for the same tiles
    bulk_by_8,
};
inline constexpr std::size_t benchmark_count = 38, first_of_hopper = static_cast<std::size_t>(Benchmark::wgmma_64);

/// Of what was not measured, a Reading without repetitions.
using Readings = std::array<Reading, benchmark_count>;

inline constexpr const char* hopper = "9.0";  ///< compute capability
/// Whether this build has what needs one of 9.0: the benchmarks from first_of_hopper on.
bool built_for_hopper();

/// Warms up and measures: a second or so. Throws Interrupted, OutOfDeviceMemory, else RunError for what CUDA refuses.
Reading measure(Benchmark what, const Device& device, Control* control);

}  // namespace tilescope::device
