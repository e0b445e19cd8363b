#include "device/calibration.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "lab/gpu/gpu_fields.hpp"
#include "lab/gpu/gpu_names.hpp"
#include "lab/gpu/gpu_presets.hpp"

namespace tilescope::device {
using text::message;
namespace {

using OptionalRate = std::optional<double> GpuSpec::*;

double four_digits(double x) {
    if (x == 0) return 0;
    const double unit = std::pow(10, 3 - std::floor(std::log10(std::abs(x))));
    return std::round(x * unit) / unit;
}

std::string shown(double x) { return text::exact(four_digits(x)); }

/// The least power of 2 that a measured rate does not clearly exceed.
double next_power(double measured) {
    return static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(std::max(1.0, 0.991 * measured))));
}

/// "NVIDIA H200" as "H200".
std::string short_name(const std::string& name) {
    constexpr std::string_view maker = "NVIDIA ";
    return name.starts_with(maker) ? name.substr(maker.size()) : name;
}

class Calibrator {
  public:
    Calibrator(const Device& device, const Readings& readings, const std::string& date)
        : device_(device), readings_(readings), date_(date), device_name_(device.name.substr(0, 70)) {
        c_.preset = preset_of(device);
        if (c_.preset.empty())
            derive_all();
        else
            start_from_preset();
        ask_driver();
        if (!c_.preset.empty()) scale_peaks();
        g_.name = (c_.preset.empty() ? short_name(device.name).substr(0, 70) : c_.preset) + " (calibrated)";
        g_.title = message("calibration.title", device.name.substr(0, 70), date);
        g_.compute_capability = device.compute_capability;
    }

    Calibration measured() {
        const GpuSpec sheet = g_;
        const bool known = !c_.preset.empty();
        const auto of_sheet = [&](double x) { return known ? std::optional(x) : std::nullopt; };
        take_arithmetic(sheet, of_sheet);
        take_memory(sheet, of_sheet);
        if (reading(Benchmark::wgmma_128).repetitions > 0) take_lanes(sheet, of_sheet);
        take_clock("cuda_clock_mhz", &GpuSpec::cuda_clock_mhz, Benchmark::cuda_clock, sheet.clock_mhz,
                   message("calibration.cuda_clock"));
        take_clock("mma_light_clock_mhz", &GpuSpec::mma_light_clock_mhz, Benchmark::mma_light_clock,
                   of_sheet(sheet.tensor_clock_mhz), message("calibration.mma_light_clock"));
        take_clock("mma_clock_mhz", &GpuSpec::mma_clock_mhz, Benchmark::mma_clock, of_sheet(sheet.tensor_clock_mhz),
                   message("calibration.mma_clock"));
        return std::move(c_);
    }

  private:
    const Reading& reading(Benchmark b) const { return readings_[static_cast<std::size_t>(b)]; }
    double read(Benchmark b) const { return reading(b).median; }

    // ---- data sheet and driver ----

    void start_from_preset() {
        g_ = lab::gpu_preset(c_.preset);
        for (const lab::GpuNumber& n : lab::gpu_numbers(c_.preset))
            c_.origins[n.key] = {message("calibration.as_preset", c_.preset, n.source), n.confirmed};
        if (!g_.l2_partitions) assume_one_partition();
    }

    void assume_one_partition() {
        g_.l2_partitions = 1;
        c_.origins["l2_partitions"] = {message("calibration.one_partition"), false};
    }

    template <class Number>
    void derive(const char* key, Number GpuSpec::*member, double value, const std::string& how) {
        g_.*member = value;
        c_.origins[key] = {message("calibration.derived", date_, device_name_, how), false};
    }

    void derive_all() {
        const double clock = device_.clock_mhz > 0 ? device_.clock_mhz : four_digits(read(Benchmark::cuda_clock));
        const double per_clock = static_cast<double>(device_.sms) * clock * 1e6;
        const double lanes = next_power(read(Benchmark::fma)), tensor = next_power(read(Benchmark::mma));
        derive("clock_mhz", &GpuSpec::clock_mhz, clock, message("calibration.as_measured"));
        derive("tensor_clock_mhz", &GpuSpec::tensor_clock_mhz, clock, message("calibration.as_clock"));
        if (device_.memory_gbs > 0)
            derive("hbm_gbs", &GpuSpec::hbm_gbs, four_digits(device_.memory_gbs), message("calibration.bus"));
        else
            derive("hbm_gbs", &GpuSpec::hbm_gbs, four_digits(read(Benchmark::copy) / 0.9),
                   message("calibration.copy_over"));
        derive("fp32_lanes", &GpuSpec::fp32_lanes, lanes, message("calibration.power_of_2"));
        derive("tensor_flops_per_clk", &GpuSpec::tensor_flops_per_clk, tensor,
               message("calibration.power_of_2_of_mma"));
        derive("fp32_tflops", &GpuSpec::fp32_tflops, four_digits(2 * lanes * per_clock / 1e12),
               message("calibration.fp32_peak"));
        derive("tensor_tflops", &GpuSpec::tensor_tflops, four_digits(tensor * per_clock / 1e12),
               message("calibration.tensor_peak"));
        c_.origins["l2_bytes_per_clk"] = {message("calibration.l2_not_known"), false};
        assume_one_partition();
    }

    template <class Number, class Value>
    void ask(const char* key, Number GpuSpec::*member, Value value) {
        if (value <= 0) return;
        g_.*member = value;
        c_.origins[key] = {message("calibration.reported", date_, device_name_), true};
    }

    void ask_driver() {
        ask("sms", &GpuSpec::sms, device_.sms);
        ask("sram_per_sm", &GpuSpec::sram_per_sm, device_.shared_per_sm);
        ask("sram_per_block", &GpuSpec::sram_per_block, device_.shared_per_block);
        ask("registers_per_sm", &GpuSpec::registers_per_sm, device_.registers_per_sm);
        ask("l2_bytes", &GpuSpec::l2_bytes, device_.l2);
        ask("hbm_bytes", &GpuSpec::hbm_bytes, device_.memory);
        ask("max_warps_per_sm", &GpuSpec::max_warps_per_sm, device_.max_warps_per_sm);
        ask("max_blocks_per_sm", &GpuSpec::max_blocks_per_sm, device_.max_blocks_per_sm);
        ask("clock_mhz", &GpuSpec::clock_mhz, device_.clock_mhz);
    }

    /// Scales peaks where the driver reports another number of SMs or other clocks than the preset.
    void scale_peaks() {
        const GpuSpec preset = lab::gpu_preset(c_.preset);
        lab::scale_what_follows(g_, preset, [](std::string_view key) { return !key.ends_with("_tflops"); });
        for (const auto& [key, peak] :
             {std::pair{"fp32_tflops", &GpuSpec::fp32_tflops}, std::pair{"tensor_tflops", &GpuSpec::tensor_tflops}})
            if (g_.*peak != preset.*peak)
                c_.origins[key].source = message("calibration.scaled", c_.origins[key].source);
    }

    // ---- what was measured ----

    template <class Number>
    void take(const char* key, Number GpuSpec::*member, const Reading& r, std::optional<double> sheet,
              const std::string& how, double most = HUGE_VAL) {
        const double value = four_digits(std::min(r.median, most));
        const auto capped = [&](const std::string& words) {
            return r.median > most ? message("calibration.capped", words, shown(r.median)) : words;
        };
        g_.*member = value;
        c_.origins[key] = {capped(message("calibration.measured", date_, device_name_, how,
                                          std::to_string(r.repetitions), shown(r.least), shown(r.most))),
                           true};
        c_.rates.push_back({key, value, sheet, capped(how)});
    }

    void take_clock(const char* key, OptionalRate member, Benchmark b, std::optional<double> sheet,
                    const std::string& how) {
        take(key, member, reading(b), sheet, how, g_.clock_mhz);
    }

    template <class F>
    void take_arithmetic(const GpuSpec& sheet, F&& of_sheet) {
        take("mma_flops_per_clk", &GpuSpec::mma_flops_per_clk, reading(Benchmark::mma),
             of_sheet(sheet.tensor_flops_per_clk), message("calibration.mma"));
        take("fma_per_clk", &GpuSpec::fma_per_clk, reading(Benchmark::fma), of_sheet(sheet.fp32_lanes),
             message("calibration.fma"));
        const bool slower = read(Benchmark::conversion) < read(Benchmark::maximum);
        take("half_rate_per_clk", &GpuSpec::half_rate_per_clk,
             reading(slower ? Benchmark::conversion : Benchmark::maximum), of_sheet(sheet.fp32_lanes / 2),
             message("calibration.half_rate", shown(read(Benchmark::maximum)), shown(read(Benchmark::conversion))));
        take("exp_per_clk", &GpuSpec::exp_per_clk, reading(Benchmark::exponential), of_sheet(sheet.exp_per_clk),
             message("calibration.exponential"));
    }

    template <class F>
    void take_memory(const GpuSpec& sheet, F&& of_sheet) {
        check_shared_memory();
        take("l2_read_bytes_per_clk", &GpuSpec::l2_read_bytes_per_clk, reading(Benchmark::l2), sheet.l2_bytes_per_clk,
             message("calibration.l2"));
        take("sm_bytes_per_clk", &GpuSpec::sm_bytes_per_clk, reading(Benchmark::one_sm), std::nullopt,
             message("calibration.one_sm"));
        take("copy_gbs", &GpuSpec::copy_gbs, reading(Benchmark::copy), of_sheet(sheet.hbm_gbs),
             message("calibration.copy"));
        take("l2_latency_clk", &GpuSpec::l2_latency_clk, reading(Benchmark::l2_latency), std::nullopt,
             message("calibration.l2_latency"));
        take("dram_latency_clk", &GpuSpec::dram_latency_clk, reading(Benchmark::dram_latency), std::nullopt,
             message("calibration.dram_latency"));
        take("launch_us", &GpuSpec::launch_us, reading(Benchmark::launch), std::nullopt, message("calibration.launch"));
    }

    /// What kernels with lanes need, where the device and the build have it.
    template <class F>
    void take_lanes(const GpuSpec& sheet, F&& of_sheet) {
        const auto rate = [&](Benchmark b) { return shown(read(b)); };
        take("wgmma_flops_per_clk", &GpuSpec::wgmma_flops_per_clk, reading(Benchmark::wgmma_128),
             of_sheet(sheet.tensor_flops_per_clk),
             message("calibration.wgmma", rate(Benchmark::wgmma_64), rate(Benchmark::wgmma_256),
                     rate(Benchmark::wgmma_64_registers), rate(Benchmark::wgmma_128_registers),
                     rate(Benchmark::wgmma_256_registers)));
        take_lane("wgmma_notice_clk", &GpuSpec::wgmma_notice_clk, Benchmark::notice,
                  message("calibration.wgmma_notice"));
        take_beside_wgmma();
        take_lane("barrier_clk", &GpuSpec::barrier_clk, Benchmark::barrier, message("calibration.barrier"));
        take_lane("mbarrier_clk", &GpuSpec::mbarrier_clk, Benchmark::mbarrier, message("calibration.mbarrier"));
        take_lane("row_shuffles_clk", &GpuSpec::row_shuffles_clk, Benchmark::row_shuffles,
                  message("calibration.row_shuffles"));
        take_lane("bulk_latency_clk", &GpuSpec::bulk_latency_clk, Benchmark::bulk_latency,
                  message("calibration.bulk_latency"));
        take_lane("bulk_port_bytes_per_clk", &GpuSpec::bulk_port_bytes_per_clk, Benchmark::bulk_port,
                  message("calibration.bulk_port"));
        take_lane("bulk_bytes_per_clk", &GpuSpec::bulk_bytes_per_clk, Benchmark::bulk, message("calibration.bulk"));
        take_lane("bulk_by_4_bytes_per_clk", &GpuSpec::bulk_by_4_bytes_per_clk, Benchmark::bulk_by_4,
                  message("calibration.bulk_by", "4"));
        take_lane("bulk_by_8_bytes_per_clk", &GpuSpec::bulk_by_8_bytes_per_clk, Benchmark::bulk_by_8,
                  message("calibration.bulk_by", "8"));
    }

    void take_lane(const char* key, OptionalRate member, Benchmark b, const std::string& how) {
        take(key, member, reading(b), std::nullopt, how);
    }

    /// Cycles of CUDA cores that an instruction takes beside wgmma and not at the rate `alone`; both are per clock.
    double extra(double beside, double alone) const {
        return std::max(0.0, g_.fp32_lanes / beside - g_.fp32_lanes / alone);
    }

    /// Cycles that wgmma loses beside instructions at full rate, per cycle of theirs.
    double stolen(double wgmma, double instructions) const {
        const double lost = 1 - wgmma / read(Benchmark::wgmma_128);
        return std::clamp(lost * g_.fp32_lanes / instructions, 0.0, 1.0);
    }

    /// `of(rate)`, from the medians of several readings: `rate` gives the reading of a benchmark.
    template <class F>
    Reading combined(F&& of) const {
        const auto from = [&](double Reading::*part) { return of([&](Benchmark b) { return reading(b).*part; }); };
        const auto [least, most] = std::minmax({from(&Reading::least), from(&Reading::most)});
        return {from(&Reading::median), least, most, reading(Benchmark::wgmma_128).repetitions};
    }

    void take_beside_wgmma() {
        using enum Benchmark;
        const auto shown_of = [&](Benchmark b) { return shown(read(b)); };
        const double half = g_.fp32_lanes / 2, exp = g_.exp_per_clk;
        const Reading instructions = combined([&](auto&& rate) {
            return (extra(rate(maximum_beside), half) + extra(rate(conversion_beside), half) +
                    extra(rate(exponential_beside), exp) + extra(rate(scaled_exponential_beside), exp) / 2) /
                   4;
        });
        take("beside_wgmma", &GpuSpec::beside_wgmma, instructions, std::nullopt,
             message("calibration.beside_wgmma", shown_of(maximum_beside), shown_of(conversion_beside),
                     shown_of(exponential_beside), shown_of(scaled_exponential_beside), shown_of(shuffle_beside),
                     shown_of(shuffle)));
        const Reading full_rate = combined([&](auto&& rate) { return extra(rate(fma_beside), g_.fp32_lanes); });
        take("full_rate_beside_wgmma", &GpuSpec::full_rate_beside_wgmma, full_rate, std::nullopt,
             message("calibration.full_rate_beside_wgmma", shown_of(fma_beside)));
        const Reading steals = combined([&](auto&& rate) { return stolen(rate(wgmma_beside_fma), rate(fma_beside)); });
        take("full_rate_steals", &GpuSpec::full_rate_steals, steals, std::nullopt,
             message("calibration.full_rate_steals", shown_of(wgmma_beside_fma)));
    }

    /// A data sheet's rate is kept, because it is a width (4 bytes per bank); the measurement only checks it.
    void check_shared_memory() {
        const GpuSpec before = g_;
        const lab::GpuOrigin origin = c_.origins["sram_bytes_per_clk"];
        take("sram_bytes_per_clk", &GpuSpec::sram_bytes_per_clk, reading(Benchmark::shared_memory),
             before.sram_bytes_per_clk, message("calibration.shared_memory"));
        if (!before.sram_bytes_per_clk) return;
        g_.sram_bytes_per_clk = before.sram_bytes_per_clk;
        c_.origins["sram_bytes_per_clk"] = origin;
        c_.rates.back().written = false;
    }

    const Device& device_;
    const Readings& readings_;
    std::string date_, device_name_;
    Calibration c_;
    GpuSpec& g_ = c_.spec;
};

}  // namespace

std::string preset_of(const Device& device) {
    const std::string preset = lab::preset_of_driver_name(device.name, lab::gpu_preset_names());
    if (preset.empty()) return "";
    const GpuSpec g = lab::gpu_preset(preset);
    // A part of a device, as virtual machines get it, is not the preset's GPU.
    return g.sms == device.sms && g.compute_capability == device.compute_capability ? preset : "";
}

Calibration calibrate(const Device& device, const Readings& readings, const std::string& date) {
    return Calibrator(device, readings, date).measured();
}

}  // namespace tilescope::device
