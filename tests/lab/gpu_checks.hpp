// Checks that two GPUs are equal, and gives the message about a wrong GPU.
#pragma once

#include <algorithm>
#include <string>

#include "core/machine/error.hpp"
#include "core/machine/gpu_spec.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

namespace tilescope {

inline void check_equal(const GpuSpec& a, const GpuSpec& b) {
    CHECK(a.name == b.name);
    CHECK(a.title == b.title);
    CHECK(a.compute_capability == b.compute_capability);
    CHECK(a.sms == b.sms);
    CHECK(a.sram_per_sm == b.sram_per_sm);
    CHECK(a.sram_per_block == b.sram_per_block);
    CHECK(a.registers_per_sm == b.registers_per_sm);
    CHECK(a.l2_bytes == b.l2_bytes);
    CHECK(a.hbm_bytes == b.hbm_bytes);
    CHECK(a.max_warps_per_sm == b.max_warps_per_sm);
    CHECK(a.max_blocks_per_sm == b.max_blocks_per_sm);
    CHECK(a.clock_mhz == b.clock_mhz);
    CHECK(a.tensor_clock_mhz == b.tensor_clock_mhz);
    CHECK(a.hbm_gbs == b.hbm_gbs);
    CHECK(a.fp32_tflops == b.fp32_tflops);
    CHECK(a.tensor_tflops == b.tensor_tflops);
    CHECK(a.tensor_flops_per_clk == b.tensor_flops_per_clk);
    CHECK(a.fp32_lanes == b.fp32_lanes);
    CHECK(a.exp_per_clk == b.exp_per_clk);
    CHECK(a.sram_bytes_per_clk == b.sram_bytes_per_clk);
    CHECK(a.l2_bytes_per_clk == b.l2_bytes_per_clk);
}

/// The error message of f, which must be one printable line that begins like every message about a GPU.
template <class F>
std::string complaint(F&& f) {
    const std::string message = message_of<BadValue>(f);
    CHECK(message.starts_with("gpu "));
    CHECK(message.size() < 700);
    CHECK(std::none_of(message.begin(), message.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }));
    return message;
}

}  // namespace tilescope
