#include "device/ncu.hpp"

#include <algorithm>

#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "device/csv.hpp"
#include "device/driver.hpp"

namespace tilescope::device {
using text::message;
namespace {

constexpr const char* metrics[] = {
    NcuMetric::sm_read,
    NcuMetric::sm_write_sectors,
    NcuMetric::sm_reduce_sectors,
    NcuMetric::dram_read,
    NcuMetric::dram_write,
    NcuMetric::xu,
    NcuMetric::ffma,
    NcuMetric::tensor,
    NcuMetric::shared_wavefronts,
    NcuMetric::shared_conflicts,
    NcuMetric::cycles,
    NcuMetric::time,
    NcuMetric::limit_shared,
    NcuMetric::limit_registers,
    NcuMetric::waves,
};
constexpr double sector_bytes = 32, threads_of_a_warp = 32, flops_of_an_fma = 2;

bool is_complaint(std::string_view line) { return line.starts_with("==ERROR==") || line.starts_with("==WARNING=="); }

}  // namespace

std::span<const char* const> ncu_metrics() { return metrics; }

std::vector<std::string> ncu_words(std::span<const std::string> asked) {
    return {"ncu", "--clock-control", "none", "--csv",     "--page",
            "raw", "--print-units",   "base", "--metrics", text::join({asked.begin(), asked.end()}, ",")};
}

std::vector<std::string> ncu_command(const std::string& file) {
    std::vector<std::string> words = ncu_words(std::vector<std::string>(ncu_metrics().begin(), ncu_metrics().end()));
    words.insert(words.end() - 2, {"--log-file", file});
    words.emplace_back("./your-program");
    return words;
}

std::string ncu_problem(std::string_view output) {
    for (const std::string_view line : lines_of(output)) {
        if (line.find("ERR_NVGPUCTRPERM") != std::string_view::npos)
            return message("ncu.may_not_read", how_to_read_counters(rights()));
        if (line.starts_with("==ERROR=="))
            return message("ncu.says", text::shown(line.substr(std::min<std::size_t>(10, line.size())), 400));
    }
    return "";
}

std::vector<std::string> unknown_metrics(std::string_view text) {
    std::vector<std::string> unknown;
    for (const std::string_view line : lines_of(text))
        for (const std::string_view metric : metrics)
            if (is_complaint(line) && line.find(metric.substr(0, metric.find('.'))) != std::string_view::npos &&
                std::ranges::find(unknown, metric) == unknown.end())
                unknown.emplace_back(metric);
    return unknown;
}

std::optional<double> Measured::blocks_per_sm() const {
    if (!blocks_by_shared || !blocks_by_registers) return std::nullopt;
    return std::min(*blocks_by_shared, *blocks_by_registers);
}

std::optional<double> sum_of(const char* metric, std::span<const NcuLaunch> launches) {
    if (launches.empty()) return std::nullopt;
    double sum = 0;
    for (const NcuLaunch& l : launches) {
        const auto found = l.metrics.find(metric);
        if (found == l.metrics.end()) return std::nullopt;
        sum += found->second;
    }
    return sum;
}

Measured combine(std::span<const NcuLaunch> launches) {
    const auto sum = [&](const char* metric, double factor) {
        const auto all = sum_of(metric, launches);
        return all ? std::optional<double>(factor * *all) : std::nullopt;
    };
    const auto value = [](const NcuLaunch& l, const char* metric) {
        const auto found = l.metrics.find(metric);
        return found != l.metrics.end() ? std::optional<double>(found->second) : std::nullopt;
    };
    Measured m;
    m.read_bytes = sum(NcuMetric::sm_read, 1);
    m.write_bytes = sum(NcuMetric::sm_write_sectors, sector_bytes);
    m.reduce_bytes = sum(NcuMetric::sm_reduce_sectors, sector_bytes);
    m.dram_read_bytes = sum(NcuMetric::dram_read, 1);
    m.dram_write_bytes = sum(NcuMetric::dram_write, 1);
    m.dram_bytes = sum(NcuMetric::dram, 1);
    if (!m.dram_bytes) m.dram_bytes = sum(NcuMetric::dram_by_rate, 1);
    if (m.dram_read_bytes && m.dram_write_bytes) m.dram_bytes = *m.dram_read_bytes + *m.dram_write_bytes;
    m.xu_ops = sum(NcuMetric::xu, threads_of_a_warp);
    m.ffma_flops = sum(NcuMetric::ffma, flops_of_an_fma);
    m.tensor_instructions = sum(NcuMetric::tensor, 1);
    m.shared_wavefronts = sum(NcuMetric::shared_wavefronts, 1);
    m.shared_conflicts = sum(NcuMetric::shared_conflicts, 1);
    m.microseconds = sum(NcuMetric::time, 1e-3);
    if (const auto cycles = sum(NcuMetric::cycles, 1); cycles && m.microseconds.value_or(0) > 0)
        m.megahertz = *cycles / *m.microseconds;
    if (launches.empty()) return m;
    const NcuLaunch& longest = *std::ranges::max_element(
        launches, {}, [&](const NcuLaunch& l) { return value(l, NcuMetric::time).value_or(0); });
    m.blocks_by_shared = value(longest, NcuMetric::limit_shared);
    m.blocks_by_registers = value(longest, NcuMetric::limit_registers);
    for (const char* other : {NcuMetric::limit_warps, NcuMetric::limit_blocks})
        if (const auto limit = value(longest, other))
            m.blocks_by_others = std::min(*limit, m.blocks_by_others.value_or(*limit));
    m.waves = value(longest, NcuMetric::waves);
    if (const auto hertz = value(longest, NcuMetric::clock); hertz && !m.megahertz) m.megahertz = *hertz / 1e6;
    m.sms = value(longest, NcuMetric::sms);
    m.spills = sum(NcuMetric::spills, 1);
    return m;
}

}  // namespace tilescope::device
