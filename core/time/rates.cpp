#include "core/time/rates.hpp"

#include <algorithm>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"

namespace tilescope {
using text::message;
namespace {

/// The share of the data sheet's bandwidth that a kernel reaches if it only reads: 0.94 on an H100, 0.96 on an H200
/// (bench/reading.cu, from 0.5 to 2 GB).
constexpr double reads_of_sheet = 0.95;

}  // namespace

const char* name_of(Unit unit) {
    constexpr std::array<const char*, unit_count> names{"tensor", "fma", "exp", "alu", "sram", "l2", "dram"};
    return names[static_cast<std::size_t>(unit)];
}

std::string name_of(Style style) {
    return message(style == Style::cuda_cores ? "rates.cuda_cores" : "rates.tensor_cores");
}

const StyleConstants& constants_of(Style style) {
    // Least squares over every other case of the survey on an H200 (docs/time.md).
    static constexpr StyleConstants cuda_cores{1.30, 1.37, 500, 195, 751, 1394, 0.07, 0, false};
    // Set, not fitted: `block` and `mask` are round numbers. `look_up`: 24 instructions (Masked::sees in
    // algorithms/cuda/seen.cuh, of a window, and the loop around it), each of which waits 4 cycles for the one before
    // (arXiv 1804.06826, of this pipeline since Volta).
    static constexpr StyleConstants tensor_cores{1, 1, 0, 0, 0, 1500, 0.10, 24 * 4, true};
    return style == Style::cuda_cores ? cuda_cores : tensor_cores;
}

Rates rates_of(const GpuSpec& g) {
    Rates r{};
    r.tensor = g.mma_flops_per_clk.value_or(g.tensor_flops_per_clk);
    r.fma = g.fma_per_clk.value_or(g.fp32_lanes);
    r.half = g.half_rate_per_clk.value_or(g.fp32_lanes / 2);
    r.exp = g.exp_per_clk;
    r.sram = g.sram_bytes_per_clk.value_or(128);
    r.bus = g.sm_bytes_per_clk.value_or(64);
    r.l2 = g.l2_read_bytes_per_clk.value_or(g.l2_bytes_per_clk.value_or(32 * static_cast<double>(g.sms)));
    r.copy_gbs = g.copy_gbs.value_or(0.9 * g.hbm_gbs);
    r.read_gbs = g.copy_gbs ? std::max(r.copy_gbs, reads_of_sheet * g.hbm_gbs) : r.copy_gbs;
    r.latency = g.l2_latency_clk.value_or(300);
    r.dram_latency = g.dram_latency_clk.value_or(700);
    // On Hopper mma.sync of e4m3 or e5m2 compiles to conversions and products of f16 (bench/float8.cu); only wgmma
    // multiplies these types.
    constexpr double ada = 8.9, hopper = 9, blackwell = 10;
    const double capability = text::to_number(g.compute_capability).value_or(0);
    r.float8 = (capability >= ada && capability < hopper) || capability >= blackwell;
    r.launch_us = g.launch_us.value_or(4);
    r.clock_mhz = {g.cuda_clock_mhz.value_or(g.clock_mhz), g.mma_light_clock_mhz.value_or(g.tensor_clock_mhz),
                   g.mma_clock_mhz.value_or(g.tensor_clock_mhz)};
    return r;
}

double clock_of(const Rates& r, Style style, Index blocks_per_sm) {
    return r.clock_mhz[style == Style::cuda_cores ? 0 : blocks_per_sm <= 1 ? 1 : 2];
}

DramRates dram_of(const Rates& r, Style style) {
    // The constants of CUDA cores were fitted with a copy's rate for reads and for writes.
    if (style == Style::cuda_cores) return {r.copy_gbs, r.copy_gbs};
    return {r.read_gbs, 1 / (2 / r.copy_gbs - 1 / r.read_gbs)};  // a byte of a copy is read or written, half and half
}

}  // namespace tilescope
