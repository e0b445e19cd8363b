// The machine, as plain numbers. Where they come from is written in gpus/*.json, one source per number.
#pragma once

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
};

}  // namespace tilescope
