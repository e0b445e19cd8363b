// What a machine does in a clock cycle, and how its kernels are written: the constants of the time model.
#pragma once

#include <array>
#include <string>

#include "core/machine/gpu_spec.hpp"

namespace tilescope {

/// What can limit a thread block. `alu`: every other floating-point operation, at full or half rate.
enum class Unit : std::uint8_t { tensor, fma, exp, alu, sram, l2, dram };
inline constexpr std::size_t unit_count = 7;
const char* name_of(Unit unit);
/// One number for every unit.
using PerUnit = std::array<double, unit_count>;

/// How a kernel computes products.
enum class Style : std::uint8_t { cuda_cores, tensor_cores };  // fp32 FMA; mma.sync
std::string name_of(Style style);

/// Cycles that kernels of a style lose, one set for all of them. Fitted to measured kernels of that style.
struct StyleConstants {
    double sigma;    ///< ratio of the cycles of a thread block alone on an SM to those of its units
    double eta;      ///< the same where thread blocks contend for a unit
    double reduce;   ///< of a reduction along rows, between lanes
    double barrier;  ///< of a barrier, or of waiting for loads
    double store;    ///< of storing a result within a loop, until the block goes on
    double block;    ///< of a thread block: its start, first loads and end
    double mask;     ///< of a step that a mask crosses: extra time, as a fraction of a step
    double look_up;  ///< of a thread, to look up whether a mask hides a score, one score after the other
    /// Whether warps wait for shared memory only where it is busy all the time. An operand of tensor cores serves a
    /// product of 16 x 8 x 16, so loads are issued far ahead of their use. An operand of CUDA cores serves a few
    /// multiply-adds, and every warp that loads meets the others there.
    bool sram_queues;
};
const StyleConstants& constants_of(Style style);

/// Rates per cycle and SM, unless the member's name or comment says otherwise.
struct Rates {
    double tensor;                    ///< FLOPs of mma.sync
    double fma;                       ///< fused multiply-adds
    double half;                      ///< operations at half rate: maxima, conversions
    double exp;                       ///< exponentials
    double sram;                      ///< bytes
    double bus;                       ///< bytes that one SM draws from L2 at most
    double l2;                        ///< bytes each way, of the whole chip
    double copy_gbs;                  ///< 10^9 B/s of the whole chip's DRAM: of a copy, both ways together
    double read_gbs;                  ///< the same where DRAM is only read
    double latency;                   ///< cycles until a load from L2 is there
    double dram_latency;              ///< the same for data that L2 lacks
    double launch_us;                 ///< of a launch that follows another in a stream
    std::array<double, 3> clock_mhz;  ///< CUDA cores; tensor cores with one block on an SM; and with more
    double queued_launch_us = 1.5;    ///< of a launch that waits for the one before to end (H200, bench/launching.cu)
    bool float8 = false;              ///< whether mma.sync multiplies 8-bit floats as they are, at twice the rate
};
Rates rates_of(const GpuSpec& gpu);
/// MHz at which kernels of a style run with so many thread blocks of 4 warps on an SM.
double clock_of(const Rates& rates, Style style, Index blocks_per_sm);

/// 10^9 B/s of the whole chip's DRAM.
struct DramRates {
    double read, write;
};
DramRates dram_of(const Rates& rates, Style style);

}  // namespace tilescope
