#include "device/calibration.hpp"

#include <algorithm>

#include "lab/gpu/gpu_presets.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::device;

namespace {

/// An H200 as its driver describes it.
Device h200() {
    Device d;
    d.name = "NVIDIA H200";
    d.compute_capability = "9.0";
    d.sms = 132;
    d.l2 = 62914560;
    d.memory = 150'754'820'096;
    d.shared_per_block = 232448;
    d.shared_per_sm = 233472;
    d.registers_per_sm = 262144;
    d.max_warps_per_sm = 64;
    d.max_blocks_per_sm = 32;
    d.clock_mhz = 1980;
    d.memory_gbs = 4916.736;
    return d;
}

Device unknown_device() {
    Device d = h200();
    d.name = "NVIDIA RTX 9999";
    d.compute_capability = "12.0";
    d.sms = 100;
    return d;
}

/// Readings in the order of Benchmark.
Readings readings_of(std::array<double, benchmark_count> values) {
    Readings all;
    for (std::size_t k = 0; k < benchmark_count; ++k) all[k] = {values[k], 0.99 * values[k], 1.01 * values[k], 11};
    return all;
}

const Readings of_hopper = readings_of(
    {2706.4, 124.638, 63.43,  63.12,  15.9993, 127.987, 3982.4, 52.318, 3970.2, 287.04, 671.6, 4.3121, 2010.6,
     1861,   1799.5,  4089.2, 4091.7, 4092.5,  4089.9,  4092.1, 4092.7, 59.91,  29.36,  29.37, 11.83,  9.5,
     29.72,  8.51,    83.2,   2207,   30.5,    60.92,   58.19,  358.6,  106.31, 37.09,  81.5,  84.4});

/// The same of a device that lacks what compute capability 9.0 has.
Readings without_lanes() {
    Readings all = of_hopper;
    std::fill(all.begin() + first_of_hopper, all.end(), Reading{});
    return all;
}

/// The readings, limited to what the data sheet of another device allows.
Readings within_sheet(Readings all, const Device& d) {
    const GpuSpec sheet = lab::gpu_preset(preset_of(d).empty() ? "H200" : preset_of(d));
    const auto most = [&](Benchmark b, double rate) {
        Reading& r = all[static_cast<std::size_t>(b)];
        r.median = std::min(r.median, rate);
    };
    most(Benchmark::mma, sheet.tensor_flops_per_clk), most(Benchmark::fma, sheet.fp32_lanes);
    most(Benchmark::maximum, sheet.fp32_lanes), most(Benchmark::conversion, sheet.fp32_lanes);
    most(Benchmark::copy, sheet.hbm_gbs);
    return all;
}

/// The preset for a device of this name.
std::string preset_called(const std::string& name, Index sms = 132) {
    Device d = h200();
    d.name = name;
    d.sms = sms;
    return preset_of(d);
}

const MeasuredRate& rate(const Calibration& c, const std::string& key) {
    for (const MeasuredRate& r : c.rates)
        if (r.key == key) return r;
    FAIL("no rate " << key);
    return c.rates.front();
}

std::string source(const Calibration& c, const std::string& key) { return c.origins.at(key).source; }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a reading is the median of its repetitions, with the least and the most", "[calibration]") {
    const Reading odd = reading_of({5, 1, 3}), even = reading_of({4, 1, 2, 9}), one = reading_of({7});
    CHECK((odd.median == 3 && odd.least == 1 && odd.most == 5 && odd.repetitions == 3));
    CHECK((even.median == 3 && even.least == 1 && even.most == 9 && even.repetitions == 4));
    CHECK((one.median == 7 && one.least == 7 && one.most == 7 && one.repetitions == 1));
}

TEST_CASE("a preset is taken for the very device that it describes", "[calibration]") {
    CHECK(preset_called("NVIDIA H200") == "H200");
    CHECK(preset_called("NVIDIA H100 80GB HBM3") == "H100-SXM");
    CHECK(preset_called("NVIDIA H200 NVL").empty());
    CHECK(preset_called("NVIDIA H100 PCIe", 114).empty());
    CHECK(preset_called("NVIDIA H200", 66).empty());  // half of an H200
    CHECK(preset_of(unknown_device()).empty());
}

TEST_CASE("what was measured stands with four digits beside the data sheet's, and says how", "[calibration]") {
    const Calibration c = calibrate(h200(), of_hopper, "2026-11-22");
    CHECK(c.preset == "H200");
    CHECK(c.spec.name == "H200 (calibrated)");
    CHECK(c.spec.title == "NVIDIA H200, calibrated 2026-11-22");
    CHECK(c.spec.mma_flops_per_clk == 2706);
    CHECK(c.spec.fma_per_clk == 124.6);
    CHECK(c.spec.half_rate_per_clk == 63.12);  // the slower of the two
    CHECK(c.spec.exp_per_clk == 16);
    CHECK(c.spec.l2_read_bytes_per_clk == 3982);
    CHECK(c.spec.sm_bytes_per_clk == 52.32);
    CHECK(c.spec.copy_gbs == 3970);
    CHECK(c.spec.l2_latency_clk == 287);
    CHECK(c.spec.dram_latency_clk == 671.6);
    CHECK(c.spec.launch_us == 4.312);
    CHECK(c.spec.mma_light_clock_mhz == 1861);
    CHECK(c.spec.mma_clock_mhz == 1800);  // 1799.5 to four digits
    CHECK(source(c, "mma_flops_per_clk") ==
          "measured by tilescope calibrate, 2026-11-22, NVIDIA H200: mma.sync m16n8k16, f16 into f32, 8 warps on each "
          "SM; median of 11, 2679 to 2733");
    CHECK(rate(c, "mma_flops_per_clk").sheet == 4096);
    CHECK(rate(c, "half_rate_per_clk").sheet == 64);
    CHECK(rate(c, "copy_gbs").sheet == 4800);
    CHECK(!rate(c, "l2_latency_clk").sheet);
}

TEST_CASE("what kernels with lanes need is measured, and is in the file", "[calibration]") {
    const Calibration c = calibrate(h200(), of_hopper, "2026-11-30");
    CHECK(c.spec.wgmma_flops_per_clk == 4092);
    CHECK(c.spec.wgmma_notice_clk == 59.91);
    // Two cycles of CUDA cores for a maximum or a conversion, eight for an exponential; what is above is wgmma's doing.
    const double max = 128 / 29.36 - 2, cvt = 128 / 29.37 - 2, ex2 = 128 / 11.83 - 8, pair = (128 / 9.5 - 8) / 2;
    CHECK_THAT(*c.spec.beside_wgmma, Catch::Matchers::WithinAbs((max + cvt + ex2 + pair) / 4, 5e-4));
    CHECK_THAT(*c.spec.full_rate_beside_wgmma, Catch::Matchers::WithinAbs(128 / 83.2 - 1, 5e-5));
    CHECK_THAT(*c.spec.full_rate_steals, Catch::Matchers::WithinAbs((1 - 2207 / 4091.7) / (83.2 / 128), 5e-5));
    CHECK(c.spec.barrier_clk == 30.5);
    CHECK(c.spec.mbarrier_clk == 60.92);
    CHECK(c.spec.row_shuffles_clk == 58.19);
    CHECK(c.spec.bulk_latency_clk == 358.6);
    CHECK(c.spec.bulk_port_bytes_per_clk == 106.3);
    CHECK(c.spec.bulk_bytes_per_clk == 37.09);
    CHECK(c.spec.bulk_by_4_bytes_per_clk == 81.5);
    CHECK(c.spec.bulk_by_8_bytes_per_clk == 84.4);
    CHECK(rate(c, "wgmma_flops_per_clk").sheet == 4096);
    CHECK(
        rate(c, "beside_wgmma").how ==
        "beside two warpgroups of wgmma m64n128, a cycle: max 29.36, cvt 29.37, ex2 11.83, fma and ex2 9.5, shfl 8.51 "
        "(alone 29.72)");
    CHECK(contains(source(c, "beside_wgmma"), "median of 11, "));
}

TEST_CASE("what was not measured of lanes stays as the preset has it", "[calibration]") {
    const Calibration c = calibrate(h200(), without_lanes(), "2026-11-30");
    CHECK(c.spec.wgmma_notice_clk == gpu_preset("H200").wgmma_notice_clk);
    CHECK(source(c, "wgmma_notice_clk").starts_with("as H200: "));
    for (const MeasuredRate& r : c.rates) CHECK(!contains(r.key, "wgmma"));
    CHECK(!calibrate(unknown_device(), without_lanes(), "2026-11-30").spec.bulk_bytes_per_clk);
}

TEST_CASE("a clock is never above the driver's maximum", "[calibration]") {
    const Calibration c = calibrate(h200(), of_hopper, "2026-11-22");
    CHECK(c.spec.cuda_clock_mhz == 1980);
    CHECK(contains(source(c, "cuda_clock_mhz"), "read 2011, above the driver's maximum"));
    CHECK(!contains(source(c, "mma_clock_mhz"), "above"));
}

TEST_CASE("the driver's numbers stand before the preset's", "[calibration]") {
    const Calibration c = calibrate(h200(), of_hopper, "2026-11-22");
    CHECK(c.spec.hbm_bytes == 150'754'820'096);
    CHECK(source(c, "hbm_bytes") == "reported by the driver, 2026-11-22, NVIDIA H200");
    CHECK(c.origins.at("hbm_bytes").confirmed);
    CHECK(c.spec.hbm_gbs == 4800);
    CHECK(source(c, "hbm_gbs").starts_with("as H200: NVIDIA H200 data sheet"));
    CHECK(!c.origins.at("l2_bytes_per_clk").confirmed);  // it is not confirmed in the preset either
}

TEST_CASE("what timing does not show stays as the preset has it", "[calibration]") {
    const Calibration c = calibrate(h200(), of_hopper, "2026-11-22");
    CHECK(c.spec.l2_partitions == 2);
    CHECK(c.spec.l2_bytes == 62914560);
    CHECK(c.spec.sram_bytes_per_clk == 128);
    CHECK(source(c, "sram_bytes_per_clk").starts_with("as H200: "));
    CHECK(rate(c, "sram_bytes_per_clk").value == 128);
    CHECK(!rate(c, "sram_bytes_per_clk").written);
    Device a100 = h200();
    a100.name = "NVIDIA A100-SXM4-40GB";
    a100.compute_capability = "8.0";
    a100.sms = 108;
    const Calibration without = calibrate(a100, without_lanes(), "2026-11-22");
    CHECK(without.preset == "A100-40GB");
    CHECK(without.spec.l2_partitions.has_value());
}

TEST_CASE("of a device without a preset, what cannot be measured is derived, and says so", "[calibration]") {
    const Calibration c = calibrate(unknown_device(), without_lanes(), "2026-11-22");
    CHECK(c.preset.empty());
    CHECK(c.spec.name == "RTX 9999 (calibrated)");
    CHECK(c.spec.compute_capability == "12.0");
    CHECK(c.spec.fp32_lanes == 128);
    CHECK(c.spec.tensor_flops_per_clk == 4096);
    CHECK(c.spec.tensor_clock_mhz == 1980);
    CHECK(c.spec.fp32_tflops == 50.69);
    CHECK(c.spec.tensor_tflops == 811);
    CHECK(c.spec.hbm_gbs == 4917);
    CHECK(c.spec.sram_bytes_per_clk == 128);
    CHECK(contains(source(c, "sram_bytes_per_clk"), "measured by tilescope calibrate"));
    CHECK(c.spec.l2_partitions == 1);
    CHECK(!c.spec.l2_bytes_per_clk);
    for (const char* key : {"fp32_lanes", "tensor_flops_per_clk", "tensor_clock_mhz", "fp32_tflops", "tensor_tflops",
                            "hbm_gbs", "l2_partitions", "l2_bytes_per_clk"}) {
        CAPTURE(key);
        CHECK(!c.origins.at(key).confirmed);
        CHECK(source(c, key).size() > 10);
    }
    for (const MeasuredRate& r : c.rates) CHECK((!r.sheet || r.key == "cuda_clock_mhz"));
    Device silent = unknown_device();
    silent.memory_gbs = silent.clock_mhz = 0;
    const Calibration less = calibrate(silent, without_lanes(), "2026-11-22");
    CHECK(less.spec.hbm_gbs == 4411);  // 3970 / 0.9
    CHECK(less.spec.clock_mhz == 2011);
}

TEST_CASE("what --gpu reads is what was written, of every device", "[calibration]") {
    std::vector<Device> devices{h200(), unknown_device()};
    devices.back().name.append(500, 'x');
    for (const auto& [name, cc, sms] :
         {std::tuple("NVIDIA H100 80GB HBM3", "9.0", 132), std::tuple("NVIDIA A100-SXM4-80GB", "8.0", 108),
          std::tuple("NVIDIA GeForce RTX 3090", "8.6", 82), std::tuple("NVIDIA GeForce RTX 4090", "8.9", 128),
          std::tuple("NVIDIA B200", "10.0", 148)}) {
        Device d = h200();
        d.name = name;
        d.compute_capability = cc;
        d.sms = sms;
        CHECK(!preset_of(d).empty());
        devices.push_back(std::move(d));
    }
    for (const Device& d : devices) {
        CAPTURE(d.name);
        const Calibration c =
            calibrate(d, within_sheet(d.compute_capability == hopper ? of_hopper : without_lanes(), d), "2026-11-22");
        const std::string written = gpu_sheet_json(c.spec, c.origins);
        const GpuSpec read = parse_gpu(written, "mine.json");
        CHECK(gpu_json(read) == gpu_json(c.spec));
        CHECK(read.mma_clock_mhz == 1800);
        for (const auto& [key, origin] : c.origins) CHECK(!origin.source.empty());
    }
}
