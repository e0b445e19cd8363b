#include "core/time/clock.hpp"

namespace tilescope {

double seconds(const Counters& c, const GpuSpec& gpu, Dtype dtype, Index busy_sms) {
    // Rates of one SM: those of the whole chip would be shared out wrongly where --sms is not what was built.
    const double clock = gpu.clock_mhz * 1e6;
    const double cuda = 2 * gpu.fp32_lanes * clock;
    const double matrix = dtype == Dtype::f32 ? cuda : gpu.tensor_flops_per_clk * gpu.tensor_clock_mhz * 1e6;
    const double share = gpu.hbm_gbs * 1e9 / static_cast<double>(std::max<Index>(busy_sms, 1));
    return std::max({static_cast<double>(c.hbm()) / share, static_cast<double>(c.matmul_flops) / matrix,
                     static_cast<double>(c.exps) / (gpu.exp_per_clk * clock),
                     static_cast<double>(c.other_flops) / cuda});
}

}  // namespace tilescope
