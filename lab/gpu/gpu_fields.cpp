#include "lab/gpu/gpu_fields.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/text/message.hpp"

namespace tilescope::lab {
using text::message;
namespace {

// Limits that keep products of a few fields within 64 bits. Peaks are used as doubles only: any product fits.
constexpr double thousand = 1e3, million = 1e6, billion = 1e9, two30 = 1 << 30, two50 = two30 * (1 << 20), tiny = 1e-6;
constexpr double least_peak = 1e-19, most_peak = 1e16;

constexpr GpuField fields[] = {
    {"sms", "SMs", &GpuSpec::sms, 1, million},
    {"sram_per_sm", "B", &GpuSpec::sram_per_sm, 1, two30},
    {"sram_per_block", "B", &GpuSpec::sram_per_block, 1, two30},
    {"registers_per_sm", "B", &GpuSpec::registers_per_sm, 1, two30},
    {"l2_bytes", "B", &GpuSpec::l2_bytes, 0, two50},
    {"hbm_bytes", "B", &GpuSpec::hbm_bytes, 1, two50},
    {"max_warps_per_sm", "warps", &GpuSpec::max_warps_per_sm, 1, million},
    {"max_blocks_per_sm", "blocks", &GpuSpec::max_blocks_per_sm, 1, million},
    {"clock_mhz", "MHz", &GpuSpec::clock_mhz, tiny, million},
    {"tensor_clock_mhz", "MHz", &GpuSpec::tensor_clock_mhz, tiny, million},
    {"hbm_gbs", "GB/s", &GpuSpec::hbm_gbs, tiny, billion},
    {"fp32_tflops", "TFLOP/s", &GpuSpec::fp32_tflops, least_peak, most_peak},
    {"tensor_tflops", "TFLOP/s", &GpuSpec::tensor_tflops, least_peak, most_peak},
    {"tensor_flops_per_clk", "FLOP/clk/SM", &GpuSpec::tensor_flops_per_clk, tiny, billion},
    {"fp32_lanes", "FMA/clk/SM", &GpuSpec::fp32_lanes, tiny, million},
    {"exp_per_clk", "exp/clk/SM", &GpuSpec::exp_per_clk, tiny, million},
    {"sram_bytes_per_clk", "B/clk/SM", &GpuSpec::sram_bytes_per_clk, tiny, billion},
    {"l2_bytes_per_clk", "B/clk", &GpuSpec::l2_bytes_per_clk, tiny, billion},
    {"l2_chiplets", "chiplets", &GpuSpec::l2_chiplets, 1, 16, true},
    {"l2_partitions", "partitions", &GpuSpec::l2_partitions, 1, 2, true},
    {"mma_flops_per_clk", "FLOP/clk/SM", &GpuSpec::mma_flops_per_clk, tiny, billion, true},
    {"fma_per_clk", "FMA/clk/SM", &GpuSpec::fma_per_clk, tiny, million, true},
    {"half_rate_per_clk", "op/clk/SM", &GpuSpec::half_rate_per_clk, tiny, million, true},
    {"l2_read_bytes_per_clk", "B/clk", &GpuSpec::l2_read_bytes_per_clk, tiny, billion, true},
    {"sm_bytes_per_clk", "B/clk/SM", &GpuSpec::sm_bytes_per_clk, tiny, billion, true},
    {"copy_gbs", "GB/s", &GpuSpec::copy_gbs, tiny, billion, true},
    {"l2_latency_clk", "clk", &GpuSpec::l2_latency_clk, tiny, million, true},
    {"dram_latency_clk", "clk", &GpuSpec::dram_latency_clk, tiny, million, true},
    {"launch_us", "us", &GpuSpec::launch_us, tiny, million, true},
    {"cuda_clock_mhz", "MHz", &GpuSpec::cuda_clock_mhz, tiny, million, true},
    {"mma_light_clock_mhz", "MHz", &GpuSpec::mma_light_clock_mhz, tiny, million, true},
    {"mma_clock_mhz", "MHz", &GpuSpec::mma_clock_mhz, tiny, million, true},
    {"wgmma_flops_per_clk", "FLOP/clk/SM", &GpuSpec::wgmma_flops_per_clk, tiny, billion, true, true},
    {"wgmma_notice_clk", "clk", &GpuSpec::wgmma_notice_clk, 0, million, true, true},
    {"beside_wgmma", "clk/clk", &GpuSpec::beside_wgmma, 0, thousand, true, true},
    {"full_rate_beside_wgmma", "clk/clk", &GpuSpec::full_rate_beside_wgmma, 0, thousand, true, true},
    {"full_rate_steals", "clk/clk", &GpuSpec::full_rate_steals, 0, 1, true, true},
    {"barrier_clk", "clk", &GpuSpec::barrier_clk, 0, million, true, true},
    {"mbarrier_clk", "clk", &GpuSpec::mbarrier_clk, 0, million, true, true},
    {"row_shuffles_clk", "clk", &GpuSpec::row_shuffles_clk, 0, million, true, true},
    {"bulk_latency_clk", "clk", &GpuSpec::bulk_latency_clk, 0, million, true, true},
    {"bulk_port_bytes_per_clk", "B/clk/SM", &GpuSpec::bulk_port_bytes_per_clk, tiny, billion, true, true},
    {"bulk_bytes_per_clk", "B/clk/SM", &GpuSpec::bulk_bytes_per_clk, tiny, billion, true, true},
    {"bulk_by_4_bytes_per_clk", "B/clk/SM", &GpuSpec::bulk_by_4_bytes_per_clk, tiny, billion, true, true},
    {"bulk_by_8_bytes_per_clk", "B/clk/SM", &GpuSpec::bulk_by_8_bytes_per_clk, tiny, billion, true, true},
};

/// Rates that were measured, and what the data sheet says in their place.
constexpr std::pair<std::optional<double> GpuSpec::*, GpuMember> measured_beside[] = {
    {&GpuSpec::l2_read_bytes_per_clk, &GpuSpec::l2_bytes_per_clk},
    {&GpuSpec::mma_flops_per_clk, &GpuSpec::tensor_flops_per_clk},
    {&GpuSpec::wgmma_flops_per_clk, &GpuSpec::tensor_flops_per_clk},
    {&GpuSpec::fma_per_clk, &GpuSpec::fp32_lanes},
    {&GpuSpec::half_rate_per_clk, &GpuSpec::fp32_lanes},
    {&GpuSpec::copy_gbs, &GpuSpec::hbm_gbs},
    {&GpuSpec::cuda_clock_mhz, &GpuSpec::clock_mhz},
    {&GpuSpec::mma_light_clock_mhz, &GpuSpec::tensor_clock_mhz},
    {&GpuSpec::mma_clock_mhz, &GpuSpec::tensor_clock_mhz},
};

/// No SM or memory does more than its data sheet says.
constexpr std::pair<std::optional<double> GpuSpec::*, double GpuSpec::*> bounded[] = {
    {&GpuSpec::copy_gbs, &GpuSpec::hbm_gbs},
    {&GpuSpec::mma_flops_per_clk, &GpuSpec::tensor_flops_per_clk},
    {&GpuSpec::wgmma_flops_per_clk, &GpuSpec::tensor_flops_per_clk},
    {&GpuSpec::fma_per_clk, &GpuSpec::fp32_lanes},
    {&GpuSpec::half_rate_per_clk, &GpuSpec::fp32_lanes},
};

const GpuField& field_of(const GpuMember& member) {
    return *std::find_if(std::begin(fields), std::end(fields), [&](const GpuField& f) { return f.member == member; });
}

/// A number that is scaled with another one, kept within the range of its field.
double scaled(const GpuMember& member, double value, double factor) {
    const GpuField& f = field_of(member);
    return std::clamp(value * factor, f.least, f.most);
}

/// Four digits are enough to agree within the 1% that contradiction_in() allows.
std::string four_digits(double x) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.4g", x);
    return digits;
}

/// A peak in TFLOP/s, and its factors besides the number of SMs.
struct Peak {
    double GpuSpec::*peak, GpuSpec::*clock_mhz, GpuSpec::*per_clk;
    double flops;  ///< for each unit of `per_clk`

    /// MFLOP/s without the factor `per_clk`, that is, for one unit of it.
    double cycles(const GpuSpec& g) const { return static_cast<double>(g.sms) * g.*clock_mhz * flops; }
    double product(const GpuSpec& g) const { return cycles(g) * g.*per_clk / 1e6; }
};
constexpr Peak peaks[] = {
    {&GpuSpec::fp32_tflops, &GpuSpec::clock_mhz, &GpuSpec::fp32_lanes, 2},
    {&GpuSpec::tensor_tflops, &GpuSpec::tensor_clock_mhz, &GpuSpec::tensor_flops_per_clk, 1},
};

}  // namespace

std::span<const GpuField> gpu_fields() { return fields; }

std::optional<double> value_of(const GpuSpec& spec, const GpuMember& member) {
    return std::visit([&](auto m) { return std::optional<double>(spec.*m); }, member);
}

bool same_machine(const GpuSpec& a, const GpuSpec& b) {
    const auto same = [&](const GpuField& f) {
        const std::optional<double> x = value_of(a, f.member), y = value_of(b, f.member);
        return x == y || (f.assumed && !(x && y));
    };
    return a.compute_capability == b.compute_capability && std::all_of(std::begin(fields), std::end(fields), same);
}

void scale_what_follows(GpuSpec& g, const GpuSpec& before, const GivenNumbers& given) {
    const auto free = [&](const GpuMember& member) { return !given(field_of(member).key); };
    if (!free(&GpuSpec::clock_mhz) && free(&GpuSpec::tensor_clock_mhz))
        g.tensor_clock_mhz =
            scaled(&GpuSpec::tensor_clock_mhz, before.tensor_clock_mhz, g.clock_mhz / before.clock_mhz);
    // The shared memory that the system reserves for each thread block stays the same.
    if (const Bytes system = before.system_sram();
        !free(&GpuSpec::sram_per_sm) && free(&GpuSpec::sram_per_block) && g.sram_per_sm > system)
        g.sram_per_block = g.sram_per_sm - system;
    for (const Peak& p : peaks) {
        if (free(p.peak))
            g.*p.peak = scaled(p.peak, before.*p.peak, p.product(g) / p.product(before));
        else if (free(p.per_clk))
            g.*p.per_clk = before.*p.per_clk * (g.*p.peak / before.*p.peak) * (p.cycles(before) / p.cycles(g));
    }
    for (const auto& [measured, published] : measured_beside)
        if (auto& m = g.*measured; m && free(measured))
            if (const auto now = value_of(g, published), then = value_of(before, published); now && then)
                m = scaled(measured, *m, *now / *then);
}

std::string contradiction_in(const GpuSpec& g) {
    constexpr double rounding = 0.01;
    for (const Peak& p : peaks) {
        const double product = p.product(g);
        if (std::abs(g.*p.peak - product) <= rounding * product) continue;
        const auto number = [&](double GpuSpec::*m) { return field_of(m).key + (" " + number_text(g.*m)); };
        const double agreeing = g.*p.per_clk * (g.*p.peak / product);
        return message("gpu_fields.disagree", field_of(p.peak).key, number_text(g.*p.peak), four_digits(product),
                       std::to_string(g.sms), number(p.clock_mhz), number(p.per_clk), field_of(p.per_clk).key,
                       four_digits(agreeing));
    }
    for (const auto& [measured, published] : bounded) {
        if (!(g.*measured) || *(g.*measured) <= (1 + rounding) * g.*published) continue;
        const GpuField &is = field_of(measured), &most = field_of(published);
        return message("gpu_fields.beyond_limit", is.key, number_text(*(g.*measured)), is.unit,
                       number_text(g.*published), most.key);
    }
    return "";
}

std::string number_text(double x) {
    const bool whole = std::abs(x) < 1e16 && x == std::floor(x);
    return whole ? std::to_string(static_cast<Index>(x)) : nlohmann::ordered_json(x).dump();
}

}  // namespace tilescope::lab
