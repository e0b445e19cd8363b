// The machine, as plain numbers. gpus/*.json names the source of each number.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "core/machine/units.hpp"

namespace tilescope {

struct GpuSpec {
    std::string name;                ///< as typed after --gpu, e.g. "A100-40GB"
    std::string title;               ///< as shown, e.g. "NVIDIA A100 SXM4 40 GB"
    std::string compute_capability;  ///< e.g. "8.0"

    Index sms = 0;               ///< streaming multiprocessors
    Bytes sram_per_sm = 0;       ///< shared memory of an SM
    Bytes sram_per_block = 0;    ///< the most shared memory one thread block may use
    Bytes registers_per_sm = 0;  ///< register file of an SM
    Bytes l2_bytes = 0;          ///< L2 cache of the whole chip
    Bytes hbm_bytes = 0;         ///< device memory
    Index max_warps_per_sm = 0;
    Index max_blocks_per_sm = 0;

    double clock_mhz = 0;             ///< boost clock, at which the rates below hold unless their note says otherwise
    double tensor_clock_mhz = 0;      ///< clock at which the tensor rate holds
    double hbm_gbs = 0;               ///< HBM bandwidth, GB/s (1e9 B/s)
    double fp32_tflops = 0;           ///< CUDA cores, fused multiply-add counted as 2
    double tensor_tflops = 0;         ///< dense f16 tensor cores with f32 accumulation
    double tensor_flops_per_clk = 0;  ///< per SM
    double fp32_lanes = 0;            ///< FMA lanes per SM
    double exp_per_clk = 0;           ///< special-function operations per clock and SM
    std::optional<double> sram_bytes_per_clk;  ///< per SM
    std::optional<double> l2_bytes_per_clk;    ///< whole chip

    std::optional<double> l2_chiplets;    ///< each with an L2 of its own; no L2 sees what another one holds; absent: 1
    std::optional<double> l2_partitions;  ///< of a chiplet's L2, each with its own copies; 1 where unknown

    // As measured on a device by `tilescope calibrate`; unknown where nobody did. Per SM unless said otherwise.
    std::optional<double> mma_flops_per_clk;      ///< of mma.sync, f16 with f32 accumulation
    std::optional<double> fma_per_clk;            ///< f32 fused multiply-adds
    std::optional<double> half_rate_per_clk;      ///< maxima and conversions
    std::optional<double> l2_read_bytes_per_clk;  ///< of the whole chip, all SMs reading
    std::optional<double> sm_bytes_per_clk;       ///< that one SM draws from L2
    std::optional<double> copy_gbs;               ///< of HBM, read and written by a copy, GB/s
    std::optional<double> l2_latency_clk;         ///< of a load that L2 has, in cycles
    std::optional<double> dram_latency_clk;       ///< of a load that L2 lacks
    std::optional<double> launch_us;              ///< from launch to launch in a stream
    std::optional<double> cuda_clock_mhz;         ///< under a load of fused multiply-adds
    std::optional<double> mma_light_clock_mhz;    ///< under mma.sync, one thread block on each SM
    std::optional<double> mma_clock_mhz;          ///< under mma.sync, several thread blocks on each

    // The same, of what lanes use on compute capability 9.0.
    std::optional<double> wgmma_flops_per_clk;      ///< of wgmma, f16 with f32 accumulation
    std::optional<double> wgmma_notice_clk;         ///< from a product's end until who waits for it goes on
    std::optional<double> beside_wgmma;             ///< extra cycles per cycle of instructions beside wgmma
    std::optional<double> full_rate_beside_wgmma;   ///< the same of full-rate instructions alone,
    std::optional<double> full_rate_steals;         ///< and the cycles of wgmma that they take, per cycle
    std::optional<double> barrier_clk;              ///< a named barrier, one way
    std::optional<double> mbarrier_clk;             ///< an mbarrier, one way
    std::optional<double> row_shuffles_clk;         ///< the two shuffles of a row's maximum
    std::optional<double> bulk_latency_clk;         ///< of a bulk copy that L2 has, beyond the transfer
    std::optional<double> bulk_port_bytes_per_clk;  ///< that an SM that was idle takes in
    std::optional<double> bulk_bytes_per_clk;       ///< that each SM gets while all ask, each for tiles of its own,
    std::optional<double> bulk_by_4_bytes_per_clk;  ///< four for the same,
    std::optional<double> bulk_by_8_bytes_per_clk;  ///< and eight

    /// What the system takes of an SM's shared memory for every resident thread block: 1 KiB (CUDA C++ Programming
    /// Guide, compute capabilities from 8.0), or what an SM has above the most that one block may use, if that is less.
    Bytes system_sram() const { return std::min<Bytes>(1024, sram_per_sm - sram_per_block); }
};

}  // namespace tilescope
