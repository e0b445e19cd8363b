#include "core/time/clock.hpp"

#include <cmath>

#include "lab/gpu_presets.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

constexpr double nanosecond = 1e-9;

double nanoseconds(const Counters& cost, Dtype dtype = Dtype::f16, Index busy = 1) {
    return seconds(cost, gpu_preset("toy"), dtype, busy) / nanosecond;
}

bool near(double a, double b, double relative = 1e-9) { return std::abs(a - b) <= relative * std::abs(b); }

}  // namespace

// The toy: one clock is 1 ns; HBM moves 4 B per clock for all SMs together; an SM does 16 FLOP per clock on its tensor
// cores, 2 x 2 on its CUDA cores, and 1 exponential.
TEST_CASE("an operation takes as long as the part of the SM that it keeps busy longest", "[clock]") {
    CHECK(near(nanoseconds({.hbm_read = 400}), 100));
    CHECK(near(nanoseconds({.hbm_write = 400}), 100));
    CHECK(near(nanoseconds({.hbm_read = 100, .hbm_write = 300}), 100));
    CHECK(near(nanoseconds({.matmul_flops = 1600}), 100));
    CHECK(near(nanoseconds({.exps = 7}), 7));
    CHECK(near(nanoseconds({.other_flops = 40}), 10));
    CHECK(near(nanoseconds({.hbm_read = 40, .matmul_flops = 320, .exps = 11, .other_flops = 20}), 20));
    CHECK(near(nanoseconds({.hbm_read = 40, .matmul_flops = 32, .exps = 11, .other_flops = 20}), 11));
    CHECK(near(nanoseconds({.hbm_read = 40, .matmul_flops = 32, .exps = 1, .other_flops = 60}), 15));
}

TEST_CASE("what costs nothing that is modelled takes no time", "[clock]") {
    CHECK(nanoseconds({}) == 0);
    CHECK(nanoseconds({.sram_read = 1000, .sram_write = 1000, .register_read = 1000, .register_write = 1000}) == 0);
    CHECK(nanoseconds({.launches = 1, .thread_blocks = 1}) == 0);
}

TEST_CASE("f32 products run on CUDA cores, narrow ones on tensor cores", "[clock]") {
    const Counters product{.matmul_flops = 1600};
    CHECK(near(nanoseconds(product, Dtype::f16), 100));
    CHECK(near(nanoseconds(product, Dtype::bf16), 100));
    CHECK(near(nanoseconds(product, Dtype::f32), 400));
    CHECK(near(nanoseconds({.exps = 7}, Dtype::f32), 7));
    CHECK(near(nanoseconds({.other_flops = 40}, Dtype::f32), 10));
}

TEST_CASE("busy SMs share the bandwidth of HBM, and nothing else", "[clock]") {
    for (const Index busy : {1, 2, 3, 4}) {
        const auto n = static_cast<double>(busy);
        CHECK(near(nanoseconds({.hbm_read = 400}, Dtype::f16, busy), 100 * n));
        CHECK(near(nanoseconds({.matmul_flops = 1600}, Dtype::f16, busy), 100));
        CHECK(near(nanoseconds({.exps = 7, .other_flops = 20}, Dtype::f16, busy), 7));
    }
    CHECK(near(nanoseconds({.hbm_read = 400}, Dtype::f16, 0), 100));  // nobody to share with
}

TEST_CASE("an SM is as fast on a chip that has fewer of them", "[clock]") {
    GpuSpec one = gpu_preset("A100-40GB");
    one.sms = 1;
    const Counters work{.matmul_flops = 1'000'000, .exps = 10, .other_flops = 10};
    for (const Dtype t : {Dtype::f32, Dtype::f16})
        CHECK(seconds(work, one, t, 1) == seconds(work, gpu_preset("A100-40GB"), t, 1));
}

TEST_CASE("all SMs of a preset together reach the rates in its data sheet", "[clock]") {
    for (const std::string& name : gpu_preset_names()) {
        INFO(name);
        const GpuSpec gpu = gpu_preset(name);
        const Count flops = 1'000'000'000;
        const double all = static_cast<double>(gpu.sms) * static_cast<double>(flops) / 1e12;
        CHECK(near(all / seconds({.matmul_flops = flops}, gpu, Dtype::f16, 1), gpu.tensor_tflops, 0.01));
        CHECK(near(all / seconds({.matmul_flops = flops}, gpu, Dtype::f32, 1), gpu.fp32_tflops, 0.01));
        CHECK(near(all / seconds({.other_flops = flops}, gpu, Dtype::f16, 1), gpu.fp32_tflops, 0.01));
        CHECK(near(1e-9 / seconds({.hbm_read = 1}, gpu, Dtype::f16, 1), gpu.hbm_gbs));
    }
}
