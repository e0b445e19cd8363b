#include "device/ncu.hpp"

#include <algorithm>
#include <charconv>

#include "core/text/words.hpp"
#include "device/driver.hpp"

namespace tilescope::device {
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
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    NcuMetric::time,
    "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_registers",
    "launch__waves_per_multiprocessor",
};
constexpr double sector_bytes = 32, threads_of_a_warp = 32, flops_of_an_fma = 2;

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// The cells of a CSV line, where ncu quotes all of them.
std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (std::size_t k = 0; k < line.size(); ++k) {
        const char c = line[k];
        if (c == '"' && quoted && k + 1 < line.size() && line[k + 1] == '"')
            cells.back() += line[++k];
        else if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            cells.emplace_back();
        else
            cells.back() += c;
    }
    return cells;
}

/// "1,234.5" as a number.
std::optional<double> number(std::string cell) {
    std::erase(cell, ',');
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (cell.empty() || error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
    return value;
}

/// What one of the unit is in bytes, nanoseconds or counts.
double factor_of(std::string_view unit) {
    constexpr std::pair<std::string_view, double> times[] = {{"usecond", 1e3}, {"us", 1e3},     {"msecond", 1e6},
                                                             {"ms", 1e6},      {"second", 1e9}, {"s", 1e9}};
    for (const auto& [name, factor] : times)
        if (unit == name) return factor;
    constexpr std::string_view counted[] = {"byte", "inst", "sector", "request", "cycle"};
    constexpr std::pair<char, double> prefixes[] = {{'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}};
    if (unit.size() > 1 && std::ranges::find(counted, unit.substr(1)) != std::end(counted))
        for (const auto& [letter, factor] : prefixes)
            if (unit[0] == letter) return factor;
    return 1;
}

bool is_complaint(std::string_view line) { return line.starts_with("==ERROR==") || line.starts_with("==WARNING=="); }

}  // namespace

std::span<const char* const> ncu_metrics() { return metrics; }

std::vector<std::string> ncu_words(std::span<const std::string> asked) {
    return {"ncu", "--clock-control", "none", "--csv",     "--page",
            "raw", "--print-units",   "base", "--metrics", text::join({asked.begin(), asked.end()}, ",")};
}

std::vector<NcuLaunch> parse_ncu(std::string_view text) {
    std::vector<std::string> header, units;
    std::vector<NcuLaunch> launches;
    for (const std::string_view line : lines_of(text)) {
        if (!line.starts_with('"')) continue;
        const std::vector<std::string> cells = cells_of(line);
        if (cells[0] == "ID") {
            header = cells;
            units.clear();
            continue;
        }
        if (cells.size() != header.size()) continue;
        if (cells[0].empty()) {
            units = cells;
            continue;
        }
        NcuLaunch launch;
        for (std::size_t k = 0; k < cells.size(); ++k) {
            if (header[k] == "Kernel Name") launch.kernel = cells[k];
            if (std::ranges::find(metrics, header[k]) == std::end(metrics)) continue;
            if (const auto value = number(cells[k]))
                launch.metrics[header[k]] = *value * (units.empty() ? 1 : factor_of(units[k]));
        }
        launches.push_back(std::move(launch));
    }
    return launches;
}

std::string ncu_problem(std::string_view output) {
    for (const std::string_view line : lines_of(output)) {
        if (line.find("ERR_NVGPUCTRPERM") != std::string_view::npos)
            return std::string("ncu may not read this GPU's performance counters (ERR_NVGPUCTRPERM): ") +
                   how_to_read_counters(rights());
        if (line.starts_with("==ERROR=="))
            return "ncu says: " + text::shown(line.substr(std::min<std::size_t>(10, line.size())), 400);
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

Measured combine(std::span<const NcuLaunch> launches) {
    const auto sum = [&](const char* metric, double factor) {
        std::optional<double> total = launches.empty() ? std::nullopt : std::optional<double>(0);
        for (const NcuLaunch& l : launches) {
            const auto found = l.metrics.find(metric);
            if (found == l.metrics.end()) return std::optional<double>();
            if (total) *total += factor * found->second;
        }
        return total;
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
    m.xu_ops = sum(NcuMetric::xu, threads_of_a_warp);
    m.ffma_flops = sum(NcuMetric::ffma, flops_of_an_fma);
    m.tensor_instructions = sum(NcuMetric::tensor, 1);
    m.shared_wavefronts = sum("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1);
    m.shared_conflicts = sum("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 1);
    m.microseconds = sum(NcuMetric::time, 1e-3);
    if (launches.empty()) return m;
    const NcuLaunch& longest = *std::ranges::max_element(
        launches, {}, [&](const NcuLaunch& l) { return value(l, NcuMetric::time).value_or(0); });
    m.blocks_by_shared = value(longest, "launch__occupancy_limit_shared_mem");
    m.blocks_by_registers = value(longest, "launch__occupancy_limit_registers");
    m.waves = value(longest, "launch__waves_per_multiprocessor");
    return m;
}

}  // namespace tilescope::device
