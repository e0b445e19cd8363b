#include "core/clock.hpp"

namespace tilescope {

double seconds(const Counters& c, const GpuSpec& gpu, Dtype dtype, Index busy_sms) {
    const double sms = static_cast<double>(gpu.sms);
    const double matrix = (dtype == Dtype::f32 ? gpu.fp32_tflops : gpu.tensor_tflops) * 1e12 / sms;
    const double special = gpu.exp_per_clk * gpu.clock_mhz * 1e6;
    const double share = gpu.hbm_gbs * 1e9 / static_cast<double>(std::max<Index>(busy_sms, 1));
    return std::max({static_cast<double>(c.hbm()) / share, static_cast<double>(c.matmul_flops) / matrix,
                     static_cast<double>(c.exps) / special,
                     static_cast<double>(c.other_flops) / (gpu.fp32_tflops * 1e12 / sms)});
}

}  // namespace tilescope
